"""The formulas that this source alone uses.

Use `reporters` when every user decides independently whether to report, `personalised` for
frequencies whose rates differ between users, `distances` for the expected total variation, and
`hajek` for the ratio estimate.
"""
