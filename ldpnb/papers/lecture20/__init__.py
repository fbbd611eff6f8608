"""Lecture 20: the local model of differential privacy.

`model`, `means` and `frequencies` decide what the source says, each beside the words of its claims; `proofs` and
`routes` hold steps and second ways that they share; `tables` computes what the notebooks show; the numbers that the
source prints are in ``printed.csv``.
"""

SECTIONS = ("model", "means", "frequencies")
