from .algebra import budget, expression, identity, limit, oo, positive, symbols
from .balls import Tangent, ball, digits, holds_on, sign_changes, slope, zeros
from .programs import optimum

__all__ = [
    "Tangent",
    "ball",
    "budget",
    "digits",
    "expression",
    "holds_on",
    "identity",
    "limit",
    "oo",
    "optimum",
    "positive",
    "sign_changes",
    "slope",
    "symbols",
    "zeros",
]
