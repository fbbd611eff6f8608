"""What comes after a plan: the plan that the field keeps, the reports that come back, and estimates from them.

`field_plan` keeps what was planned, `reports` has what comes back, `samples` the variances of designs, `intervals`
those that are exact or guaranteed, and `estimation` the estimates.
"""
