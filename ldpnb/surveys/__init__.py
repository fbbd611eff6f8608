"""Surveys under local or central privacy: what a design's estimate errs by, what its release loses, how many to ask.

Every estimate is a weighted mean of reports whose weights depend on the sample alone: its variance is the sum of two
parts that never mix. Design effects, finite populations and intra-cluster correlation act on **sampling**; the reports'
own variance over the squared weights is **randomisation**.

`noise` has the variance of a report, `variances` the worst variance of an estimate, `releases` what a release loses and
which noise a curator adds, `open_designs`, `strata_designs` and `unequal_designs` all three for each design, as functions
of the number of units, `response` what nonresponse does, `budgets` how several questions share one budget, and `pilots`
what a pilot tells.
"""
