"""Lecture 20: the local model of differential privacy.

`model`, `means` and `frequencies` decide what the source says, each beside the words of its claims.
`proofs` holds steps that they share, and `written_out` printed formulas and enumerations. `tables`
computes what the notebooks show. The numbers that the source prints are in ``printed.csv``.
"""
