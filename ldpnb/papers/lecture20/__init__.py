"""Lecture 20: the local model of differential privacy.

`claims` decides what the source says, section by section; `routes` holds the second, independent ways to the deciding
values; `tables` computes what the notebooks show; the numbers that the source prints are in ``printed.csv``.
"""
