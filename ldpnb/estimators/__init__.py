"""From tallies to estimates.

Use `frequency` for the unbiased estimate and its projection onto the simplex (Norm-Sub), `sampling`
if only some users report, `likelihood` for the maximum-likelihood estimate with its certificate
(`solvers` finds it), and `gaps` for group means and intervals for their gap. Posterior means are in
`ldpnb.papers.lopuhaa2020.formulas`.
"""
