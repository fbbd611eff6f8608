"""How far an estimate is from the truth: exact variances, lower bounds, tails, and the smallest epsilon or sample that meets a target.

Use `sampling` for frequencies when only some users report, `information` for mean-squared-error bounds, `gaps` for differences of group means,
`means` for bounded means and `tails` for concentration.
"""
