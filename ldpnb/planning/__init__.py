"""How many people, what budget, which mechanism: plans for shares, means and gaps, of everybody or of a sample.

One object is a question (`questions`) and, completed, its answer (`solve`). Its design (`samples`, `clusters`) says who
may be asked, and its law (`laws`, `gaps`) how often the estimate of a mechanism is off.
"""
