"""Lopuhaä-Zwakenberg, Li, Škorić and Wang: Improving frequency estimation under local differential privacy.

`claims` decides what the source says, section by section; `proofs` holds the steps that are decided for every parameter
and `routes` the second, independent ways to the deciding values; `tables` computes what the notebooks show and `charts`
draws it; the numbers that the source prints are in ``printed.csv``.
"""
