"""Exact privacy loss, of a mechanism alone and of one that runs on a random sample.

For a mechanism alone use `channel`, if it is a finite matrix of output probabilities, and
`hockey_stick` for the trade-off between epsilon and delta, of finite channels and of Laplace noise.
`optimiser` finds the worst mechanism that may follow a sampling design: the exact optimum to set
beside a source's bound.

For samples use `subsampling` (simple random samples of a fixed size, independent samples),
`participation` if the decision to report depends on the value, and `shuffling` and `blanket` for
anonymised local reports, which `tallies` computes. `lemmas` holds what they share. Other designs
stand in the folder of the source that alone uses them, ``ldpnb.papers.<source>.formulas``.
"""
