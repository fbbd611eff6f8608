"""Surveys under local or central privacy: the error of a design's estimate, the loss of its release, its sample size.

Every estimate is a weighted mean of reports whose weights depend on the sample alone, so its variance has two separate
parts. **Sampling** is subject to design effects, finite populations and intra-cluster correlation; **randomisation** is
the reports' own variance over the squared weights.

`noise` has the variance of a report, `variances` that of cluster samples, `releases` the loss of a release and the
noise that a curator adds. `open_designs`, `strata_designs` and `unequal_designs` bring these together for designs whose
number of units is still to be found. `response` treats nonresponse, `budgets` several questions on one budget, and
`pilots` what a pilot tells.
"""
