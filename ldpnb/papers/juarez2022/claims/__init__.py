"""What juarez2022 says, section by section, in the source's order."""

from importlib import import_module

for _section in ("4_privacy", "5_variance", "5_comparisons", "5_tables"):
    import_module(f"{__name__}.section_{_section}")
import_module(f"{__name__}.section_6_and_appendices")
