from .algebra import budget, derivative, expression, identity, limit, oo, positive, replaced, symbols
from .balls import Tangent, ball, digits, holds_on, sign_changes, slope, zeros
from .programs import optimum

__all__ = [
    "Tangent",
    "ball",
    "budget",
    "derivative",
    "digits",
    "expression",
    "holds_on",
    "identity",
    "limit",
    "oo",
    "optimum",
    "positive",
    "replaced",
    "sign_changes",
    "slope",
    "symbols",
    "zeros",
]
