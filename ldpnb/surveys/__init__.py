"""What comes after a plan: the plan that the field keeps, the reports that come back, and estimates from them.

`field_plan` keeps what was planned, `reports` has the law of a report, `fieldwork` draws who is asked and refuses what
cannot have come back, `samples` estimates means and their variances in every design, `intervals` has all intervals,
and `estimation` puts these together.
"""
