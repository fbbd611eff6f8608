"""What this companion adds to the sources, theme by theme."""

from importlib import import_module

for _theme in ("samples", "counts", "groups", "allocations", "reports"):
    import_module(f"{__name__}.{_theme}")
