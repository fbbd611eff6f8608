"""What bun2022 says, section by section, in the source's order."""

from importlib import import_module

for _section in ("section_2", "section_3", "section_4", "section_5", "section_6", "section_7"):
    import_module(f"{__name__}.{_section}")
