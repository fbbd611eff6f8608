"""The claims of juarez2022, by topic in the source's order.

`privacy` decides Sections 2 and 4 and the appendices that prove them, `variance` the estimators of Section 5, `comparisons` its figures, `tables`
its tables and `evaluation` Appendices C and D. `routes` holds what they share: the source's formulas as printed, and moments and integrals
computed from a mechanism's output law alone. `published` reads the printed numbers.
"""

from importlib import import_module

for _topic in ("privacy", "variance", "comparisons", "tables", "evaluation"):
    import_module(f"{__name__}.{_topic}")
