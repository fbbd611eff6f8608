"""Sampling designs: who is asked.

Use `strata` for stratified samples and their allocation, and `laws` for the probability of every
sample of a small population. Designs that one source alone uses stand in that source's folder,
``ldpnb.papers.<source>.formulas``.
"""
