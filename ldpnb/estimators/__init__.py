"""From tallies to estimates.

Use `frequency` for the unbiased estimate and its projection onto the simplex (Norm-Sub), `sampling` when only some users report, `likelihood`
for the maximum-likelihood estimate with its certificate of optimality, and `bayes` for posterior means.
"""
