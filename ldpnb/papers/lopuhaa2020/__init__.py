"""Lopuhaä-Zwakenberg, Li, Škorić and Wang: Improving frequency estimation under local differential privacy.

The words of a section's claims stand in ``section_<n>.toml``, what decides them beside it; `best_rows` holds steps that
two sections share, `second_routes` the second routes to formulas and `routes` what these are made of. `tables` computes
what the notebooks show and `charts` draws it; the numbers that the source prints are in ``printed.csv``.
"""

SECTIONS = ("section_1", "section_3", "section_4", "section_5", "section_6")
