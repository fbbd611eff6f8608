"""How far an estimate is from the truth: exact variances, lower bounds, tails, and what meets a target.

Use `sampling` and `personalised` for frequencies when only some users report (`distances` for their expected total
variation, `hajek` for the ratio estimate), `histograms` for counts when all report, `information`, `lower_bounds` and
`exact_risk` for mean squared errors and their bounds, `means` for bounded means, `gaps` and `budgets` for differences
of group means, `allocation` for stratified samples, and `tails` for concentration.
"""
