"""Who is asked: sampling designs.

Use `reporters` when every user decides independently whether to report, `samples` for simple random, cluster, unequal-probability and
systematic samples, and `strata` for stratified samples and their allocation.
"""
