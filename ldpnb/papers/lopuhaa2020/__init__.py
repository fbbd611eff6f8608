"""Lopuhaä-Zwakenberg, Z. Li, Škorić and N. Li: Improving frequency estimation under local differential privacy.

The words of a section's claims stand in ``section_<n>.toml``, what decides them beside it; `routes` holds the second
routes to formulas. `tables` computes what the notebooks show and `findings` titles and draws it; the numbers that the
source prints are in ``printed.csv``.
"""

SECTIONS = ("section_1", "section_3", "section_4", "section_5", "section_6")
