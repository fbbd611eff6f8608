"""Who is asked: sampling designs.

Use `reporters` when every user decides independently whether to report, `samples` for simple random, cluster,
unequal-probability and systematic samples, `strata` for stratified samples and their allocation, `sizes` for laws of a
random sample size, and `laws` for the exact law of every sample of a small population.
"""
