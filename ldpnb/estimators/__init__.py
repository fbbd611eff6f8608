"""From tallies to estimates.

Use `frequency` for the unbiased estimate and its projection onto the simplex (Norm-Sub), `sampling` when only some
users report, `likelihood` for the maximum-likelihood estimate with its certificate of optimality (`solvers` finds it),
and `gaps` for group means and intervals for their gap. Posterior means stand in `ldpnb.papers.lopuhaa2020.formulas`.
"""
