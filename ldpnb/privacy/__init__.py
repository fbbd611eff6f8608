"""Exact privacy loss.

Use `channel` for a finite channel (a matrix of output probabilities; `saved` reads one from a file), `hockey_stick` for the (epsilon, delta)
trade-off of discrete and piecewise-Laplace output laws, `noisy_statistics` for a statistic of a random sample with Laplace noise, `optimiser` for
the worst mechanism that may follow a sampling design, and `design` for the best channel at a given loss. Amplification bounds are in
`ldpnb.amplification`.
"""
