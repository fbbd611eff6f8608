"""Privacy of a mechanism that runs on a random sample: the sources' bounds and, beside each, the exact optimum.

Use `subsampling` for simple random samples of fixed, random or data-dependent size, `clusters` for cluster samples, `unequal` for unequal
probabilities and systematic samples, and `shuffling` for anonymised local reports.
"""
