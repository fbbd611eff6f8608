"""Plan a survey by a randomising device, and estimate from its reports.

`ldpnb.survey.planning.plan` finds the sample size, the privacy budget, the error or its
probability.
`ldpnb.survey.estimation.estimate` turns each report into an unbiased value, and then estimates as
survey statisticians do.
"""
