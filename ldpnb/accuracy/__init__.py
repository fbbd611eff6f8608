"""How far an estimate is from the truth: exact variances, tails, and what meets a target.

Use `sampling` for frequencies if only some users report, `histograms` for counts if all do, `means`
for bounded means, `gaps` for differences of group means, and `tails` for concentration. What one
source alone uses is in that source's folder, ``ldpnb.papers.<source>.formulas``.
"""
