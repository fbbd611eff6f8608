"""Surveys under local or central privacy: what a design's estimate errs by, what its release loses, how many to ask.

Every estimate is a weighted mean of reports whose weights depend on the sample alone: its variance is the sum of two
parts that never mix. Design effects, finite populations and intra-cluster correlation act on **sampling**; the reports'
own variance over the squared weights is **randomisation**.

`noise` has the variance of a report, and `open_designs`, `strata_designs` and `unequal_designs` the designs: variance,
loss and a curator's noise as functions of the number of units. Underneath, `variances` has the worst variance of an
estimate, `releases` the noise of coins and lotteries, and `response` how many to invite. `populations` has the exact
errors where all values are known, `budgets` shares one budget among several questions, and `pilots` says what a pilot
tells.

Afterwards: `field_plan` keeps what was planned, `draw` says who is asked, `reports` what one report tells, `fieldwork`
refuses what cannot have come back, `samples` has the variances of designs, `intervals` those that are exact or
guaranteed, `estimation` computes the estimates, and `estimates` shows them.
"""
