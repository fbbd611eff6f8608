"""What juarez2022 says, section by section, in the source's order."""

from importlib import import_module

for _section in (
    "section_4_privacy",
    "section_5_variance",
    "section_5_comparisons",
    "section_5_tables",
    "appendices_c_d",
):
    import_module(f"{__name__}.{_section}")
