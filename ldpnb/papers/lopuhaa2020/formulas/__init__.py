"""The formulas that this source alone uses.

Use `information`, `lower_bounds` and `exact_risk` for mean squared errors and their bounds, `bayes`
for posterior means (with `saddle` where the exact one is out of reach), and `best_channel` for the
best channel at a given privacy loss.
"""
