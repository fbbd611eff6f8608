"""What lecture20 says, section by section, in the source's order."""

from importlib import import_module

for _section in ("model", "means", "frequencies"):
    import_module(f"{__name__}.{_section}")
