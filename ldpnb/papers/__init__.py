"""One folder a source: its claims and the second routes that check them, its tables, charts, simulated data and printed
numbers.
"""
