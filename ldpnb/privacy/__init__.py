"""Exact privacy loss, of a mechanism alone and of one that runs on a random sample.

Use `channel` for a finite channel (a matrix of output probabilities), `hockey_stick` for the (epsilon, delta) trade-off
of discrete and piecewise-Laplace output laws, `optimiser` for the worst mechanism that may follow a sampling design,
and `best_channel` for the best channel at a given loss; `purify` makes approximate channels pure.

For samples there are the sources' bounds and, beside each, the exact optimum: `subsampling` for simple random samples
of fixed size, `random_size`, `data_dependent` and `rounding` where the size is random or depends on the data,
`clusters` for cluster samples, `unequal` for unequal probabilities and systematic samples, `participation` where the
decision to report depends on the value, `releases` for several releases from one sample, `shuffling` and `blanket` for
anonymised local reports; `lemmas` holds what they share.
"""
