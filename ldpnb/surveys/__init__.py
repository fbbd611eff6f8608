"""What comes after a plan: the plan that the field keeps, the reports that come back, and estimates from them.

`field_plan` keeps what was planned, `draw` says who is asked, `reports` what one report tells, `fieldwork` refuses
what cannot have come back, `samples` estimates totals and their variances in every design, `intervals` has all
intervals, `estimation` puts these together, and `estimates` shows them.
"""
