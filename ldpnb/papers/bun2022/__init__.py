"""Bun, Drechsler, Gaboardi, McMillan and Sarathy: Controlling privacy loss in sampling schemes.

A section's file of words holds what the source says, and the module beside it checks it. `shared`
holds what several sections need. `tables` computes what the notebooks show, and `charts` draws it.
The numbers that the source prints are in ``printed.csv``. `establishments` makes the business
microdata of Section 7.
"""
