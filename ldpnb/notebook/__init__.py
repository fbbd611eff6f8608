"""What a cell of a notebook imports: ``from ldpnb.notebook import curves, live, publish, verdicts``.

Names are loaded when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
