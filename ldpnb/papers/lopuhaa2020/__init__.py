"""Lopuhaä-Zwakenberg, Li, Škorić and Wang: Improving frequency estimation under local differential privacy.

`claims` decides what the source says, section by section; `routes` holds the second, independent ways to the deciding
values; `tables` computes what the notebooks show and `charts` draws it; the numbers that the source prints are in
``printed.csv``.
"""
