"""The claims of biswas2022, by topic in the source's order.

`direct_encoding` decides Section 2, `uniform` Section 3 (one sampling rate), `figures` Section 4, `personal` Section 5 (a rate per node) and
`questions` the open questions of Section 6. `enumeration` holds the independent route they share: complete enumeration of who reports what.
"""

from importlib import import_module

for _topic in ("direct_encoding", "uniform", "figures", "personal", "questions"):
    import_module(f"{__name__}.{_topic}")
