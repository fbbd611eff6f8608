"""From tallies to estimates.

Use `frequency` for the unbiased estimate and its projection onto the simplex (Norm-Sub), `sampling` when only some
users report, `likelihood` for the maximum-likelihood estimate with its certificate of optimality (`solvers` finds it),
`bayes` for posterior means (`saddle` where the exact one is out of reach), and `gaps` for group means and intervals for
their gap.
"""
