"""How many people, what budget, which mechanism: plans for shares, means and gaps, of everybody or of a sample.

One object is a question (`questions`) and, completed, its answer (`solve`, by the one `search`). `samples` and
`clusters` say who may be asked and, once drawn, what that does to the estimate's variance, its tails and its loss;
`reports` what a report is. `mechanisms` and `gaps` list those for a question, each with a law of its error: `laws` for
means and shares, from exact `binomials`. `plans` ranks and prints the answers, `saving` keeps one for the field,
`several` shares a budget among questions, `power` plans a test, `tables` reads strata, and `command` is the command
line.
"""
