"""The claims of lecture20 in the lecture's order: `averages` on means, `frequencies` on counts, communication and the local model itself.

`routes` holds the independent route to each deciding value: complete enumeration of a few users' reports with the probabilities written out as
the lecture prints them, quadrature of a noise's density, or inversion of its characteristic function.
"""

from importlib import import_module

for _topic in ("averages", "frequencies"):
    import_module(f"{__name__}.{_topic}")
