"""The names that the cells of notebooks import.

A cell begins with ``from ldpnb.notebook import curves, live, publish, verdicts``, for example.
Names are loaded when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
