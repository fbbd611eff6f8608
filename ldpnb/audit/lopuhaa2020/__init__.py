"""The claims of lopuhaa2020, by topic in the source's order.

`posteriors` and `maxima` decide Section 3 and the appendices, `bounds` Sections 4.1 to 4.3, `tightness` Section 4.4, Table I and the open
questions, `experiments` Section 5. `routes` holds the independent routes they share.
"""

from importlib import import_module

for _topic in ("posteriors", "maxima", "bounds", "tightness", "experiments"):
    import_module(f"{__name__}.{_topic}")
