"""Deciders: statements about every parameter of a stated domain, proven or refuted.

Each answers True if it has a proof, False if it has a counterexample, and None if it has neither.
So True never rests on a tolerance. `algebra` works on symbols: with ``t = e^epsilon`` formulas
become rational functions, and ``t`` in ``(1, oo)`` covers every budget. `balls` works on numbers
with error bounds. Both take the formulas of this package unchanged (`ldpnb.arithmetic`), or any
other.

>>> from ldpnb.deciders import budget, identity, oo, positive, symbols
>>> from ldpnb.mechanisms.frequency import KaryRandomisedResponse
>>> t, k = symbols("t k")
>>> kary = KaryRandomisedResponse(budget(t), k)
>>> identity(kary.p, t * kary.q), positive(kary.p - kary.q, {t: (1, oo), k: (2, oo)})
(True, True)
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
