"""Deciders: a statement about every parameter of a stated domain, proven or refuted.

Each answers True with a proof, False with a counterexample, and None where it has neither, so that True never rests on
a tolerance. `algebra` works on symbols (put ``t = e^epsilon``: formulas become rational functions, and ``t`` in
``(1, oo)`` is every budget), `balls` on numbers with error bounds, `programs` on linear programs in exact fractions.
They take the formulas of this package as they stand (`ldpnb.arithmetic`), or any other.
"""
