"""Linear programs solved exactly: primal and dual solutions in fractions, feasible and with equal values."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog

Fractions = Sequence[Sequence[Any]] | np.ndarray[Any, Any]


def optimum(gains: Any, rows: Fractions, limits: Any) -> Fraction:
    """Return the exact largest ``gains x`` over ``x >= 0`` with ``rows x <= limits``; numbers are whole or fractions.

    HiGHS proposes the active entries and rows; from these both solutions are computed in fractions and checked, and
    their values compared.

    - ArithmeticError if the program has no optimum, or the proposal leads to no certificate.

    >>> optimum([1, 1], [[2, 1], [1, 3]], [1, 1])
    Fraction(3, 5)
    """
    c, a, b = (_fractions(part) for part in (gains, rows, limits))
    proposal = linprog(-c.astype(float), A_ub=a.astype(float), b_ub=b.astype(float), method="highs-ds")
    if proposal.status != 0:
        raise ArithmeticError(f"the linear program has no optimum: {proposal.message}")
    nearly, slack, prices = np.asarray(proposal.x), np.asarray(proposal.slack), -proposal.ineqlin.marginals
    used, binding, priced = nearly > 1e-9, slack < 1e-9, prices > 1e-9
    x = _supported(a[binding][:, used], b[binding], used, nearly)
    dual = _supported(a[priced][:, used].T, c[used], priced, prices)
    feasible = min(x) >= 0 and min(dual) >= 0 and bool((a @ x <= b).all() and (dual @ a >= c).all())
    if not (feasible and c @ x == dual @ b):
        raise ArithmeticError("the active entries and rows give no exact certificate")
    return Fraction(c @ x)


def _fractions(values: Any) -> np.ndarray[Any, Any]:
    return np.vectorize(Fraction, otypes=[object])(np.asarray(values, dtype=object))


def _supported(matrix: Any, right: Any, support: Any, near: Any) -> np.ndarray[Any, Any]:
    """Solve for the supported entries; what the equations leave free is rounded from `near`."""
    guess = np.array([Fraction(float(v)).limit_denominator(10**6) for v in near[support]], dtype=object)
    table = [[fmpq(v.numerator, v.denominator) for v in (*row, end)] for row, end in zip(matrix, right, strict=True)]
    if table:
        reduced, rank = fmpq_mat(table).rref()
        for row in reduced.tolist()[:rank]:
            *entries, end = (Fraction(int(v.p), int(v.q)) for v in row)
            lead = next((j for j, v in enumerate(entries) if v), None)
            if lead is not None:
                guess[lead] += end - sum(v * g for v, g in zip(entries, guess, strict=True))
    solution = np.full(len(near), Fraction(0), dtype=object)
    solution[support] = guess
    return solution
