"""The formulas that this source alone uses.

Use `budgets` for the smallest epsilon that meets a target.
"""
