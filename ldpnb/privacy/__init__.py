"""Exact privacy loss, of a mechanism alone and of one that runs on a random sample.

Use `channel` for a finite channel (a matrix of output probabilities), `hockey_stick` for the (epsilon, delta) trade-off
of discrete and piecewise-Laplace output laws, and `optimiser` for the worst mechanism that may follow a sampling
design, the exact optimum beside a source's bound.

For samples use `subsampling` (simple random samples of fixed size), `participation` where the decision to report
depends on the value, and `shuffling` and `blanket` for anonymised local reports; `lemmas` holds what they share. Other
designs stand in the folder of the source that alone uses them, ``ldpnb.papers.<source>.formulas``.
"""
