"""Exact privacy loss.

Use `channel` for a finite channel (a matrix of output probabilities), `hockey_stick` for the (epsilon, delta) trade-off of discrete and
piecewise-Laplace output laws, and `optimiser` for the worst mechanism that may follow a sampling design. Amplification bounds are in
`ldpnb.amplification`.
"""
