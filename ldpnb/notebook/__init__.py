"""What a cell of a notebook imports: ``from ldpnb.notebook import curves, live, publish, verdicts``.

`charts` says how a table is drawn, `figures` draws it, `publishing` keeps it with its numbers, `live` makes a section
with controls, and `verdicts` shows what was decided; `environment` names the variables through which a run speaks to
its kernels. Names are loaded when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
