"""How far an estimate is from the truth: exact variances, tails, and what meets a target.

Use `sampling` for frequencies when only some users report, `histograms` for counts when all report, `means` for bounded
means, `gaps` for differences of group means, and `tails` for concentration. What one source alone uses stands in that
source's folder, ``ldpnb.papers.<source>.formulas``.
"""
