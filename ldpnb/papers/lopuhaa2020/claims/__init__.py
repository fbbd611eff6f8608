"""What lopuhaa2020 says, section by section, in the source's order."""

from importlib import import_module

_SECTIONS = (
    "section_1",
    "section_3_posteriors",
    "section_3_maxima",
    "section_4_bounds",
    "section_4_tightness",
    "section_5",
)

for _section in _SECTIONS:
    import_module(f"{__name__}.{_section}")
