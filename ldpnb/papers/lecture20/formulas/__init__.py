"""The formulas that this source alone uses.

Use `purify` to make an approximate channel pure.
"""
