"""Privacy of a mechanism that runs on a random sample: the sources' bounds and, beside each, the exact optimum.

Use `subsampling` for simple random samples of fixed size, `random_size`, `data_dependent` and `rounding` where the size is random or depends on the
data, `clusters` for cluster samples, `unequal` for unequal probabilities and systematic samples, `participation` where the decision to report
depends on the value, and `shuffling` for anonymised local reports; `lemmas` holds what they share.
"""
