"""Bun, Drechsler, Gaboardi, McMillan and Sarathy: Controlling privacy loss in sampling schemes.

`claims` decides what the source says, section by section; `routes` holds the second, independent ways to the deciding
values; `tables` computes what the notebooks show and `charts` draws it; the numbers that the source prints are in
``printed.csv``. `establishments` and `tabulations` make and read the business microdata of Section 7.
"""
