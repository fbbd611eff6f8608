"""Random numbers that are known only as far as the client has compared them.

``random()`` returns ``k / 2**53`` for a whole number ``k`` below ``2**53``, and each is equally
likely: so it is in Python and in NumPy. A `Uniform` is an interval of such ``k``, which splits at
every comparison. It may be shifted, scaled and rounded, because the client's own arithmetic then
tells, by bisection, which ``k`` lie below a threshold.
"""

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Any

import numpy as np

from ldpnb.audit.tape import Tape

GRID = 2**53
"""How many values a uniform number has."""

Operations = tuple[tuple[str, Any], ...]
"""What was done to a uniform number: names of operations and their other operands, in order."""

_ORDINARY = (float, int, Rational, np.bool_, np.integer)
"""Numbers that are compared and computed with as the client's own arithmetic does it."""

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "rsub": lambda number, other: other - number,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "int": lambda number, _: int(number),
    "floor": lambda number, _: math.floor(number),
    "ceil": lambda number, _: math.ceil(number),
    "round": lambda number, _: round(number),
}


def _refusing(operation: str) -> Callable[..., Any]:
    """Return a method that refuses an operation, by its name in the message."""

    def refuse(self: Any, *_: Any) -> Any:
        self._tape.refuse(
            f"computes with a random number ({operation}); only comparisons, "
            "sums and products with constants, and rounding can be followed"
        )

    return refuse


class Uniform:
    """A uniform number, or a shifted and scaled one.

    Parameters
    ----------
    tape : Tape
        Where its comparisons are decided.
    """

    __slots__ = ("_interval", "_operations", "_tape")

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._interval = [0, GRID]  # shared by all numbers that were computed from this one
        self._operations: Operations = ()

    # Comparisons

    def __lt__(self, threshold: Any) -> Any:
        return self._is_below(threshold, False)

    def __le__(self, threshold: Any) -> Any:
        return self._is_below(threshold, True)

    def __ge__(self, threshold: Any) -> Any:
        return _opposite(self < threshold)

    def __gt__(self, threshold: Any) -> Any:
        return _opposite(self <= threshold)

    def __eq__(self, threshold: object) -> Any:
        return np.logical_and(self <= threshold, self >= threshold)

    def __ne__(self, threshold: object) -> Any:
        return _opposite(self == threshold)

    def __bool__(self) -> bool:
        return bool(self != 0)

    def _is_below(self, threshold: Any, or_equal: bool) -> Any:
        """Decide whether the number is below a threshold, and keep to the decision."""
        # Most thresholds are ordinary floats, which need no closer look.
        is_ordinary = type(threshold) is float and not math.isnan(threshold)
        if not is_ordinary:
            if isinstance(threshold, np.ndarray):
                return NotImplemented  # NumPy then compares the number with every entry
            if threshold is self:
                return or_equal
            threshold = self._number(threshold, "compares a random number with")

        first, rises = _first_above(self._operations, threshold, or_equal)
        is_before_first = self._splits_at(first)
        return is_before_first if rises else not is_before_first

    def _splits_at(self, edge: int) -> bool:
        """Decide whether ``k`` is less than `edge`."""
        least, end = self._interval
        if edge >= end:
            return True
        if edge <= least:
            return False

        is_before = self._tape.choose((edge - least, end - edge)) == 0
        if is_before:
            self._interval[1] = edge
        else:
            self._interval[0] = edge
        return is_before

    # Arithmetic

    def __add__(self, other: Any) -> Any:
        return self._then("add", other)

    def __radd__(self, other: Any) -> Any:
        return self._then("add", other)

    def __sub__(self, other: Any) -> Any:
        return self._then("sub", other)

    def __rsub__(self, other: Any) -> Any:
        return self._then("rsub", other)

    def __mul__(self, other: Any) -> Any:
        return self._then("mul", other)

    def __rmul__(self, other: Any) -> Any:
        return self._then("mul", other)

    def __truediv__(self, other: Any) -> Any:
        return self._then("truediv", other)

    def __neg__(self) -> Any:
        return self._then("mul", -1)

    def __int__(self) -> int:
        return self._whole("int")

    def __floor__(self) -> int:
        return self._whole("floor")

    def __ceil__(self) -> int:
        return self._whole("ceil")

    def __trunc__(self) -> int:
        return self._whole("int")

    def __round__(self, digits: int | None = None) -> int:
        if digits is not None:
            self._tape.refuse("rounds a random number to some digits, which is not followed")
        return self._whole("round")

    def _then(self, name: str, other: Any) -> Any:
        """Return the number after one more operation."""
        if isinstance(other, np.ndarray):
            return NotImplemented  # NumPy then computes with every entry

        operand = self._number(other, "computes with a random number and")
        if name == "truediv" and operand == 0:
            raise ZeroDivisionError("float division by zero")
        if isinstance(operand, float) and math.isinf(operand):
            self._tape.refuse("computes with a random number and infinity, which is not followed")
        result = Uniform(self._tape)
        result._interval = self._interval
        result._operations = (*self._operations, (name, operand))
        return result

    def _whole(self, name: str) -> int:
        """Round the number to a whole one."""
        operations = (*self._operations, (name, None))
        least, end = self._interval
        lowest, highest = sorted([_value(operations, least), _value(operations, end - 1)])
        if highest - lowest >= self._tape.limit:
            self._tape.refuse("rounds a random number to one of too many whole numbers")

        # Halve the range until one whole number is left.
        while lowest < highest:
            middle = (lowest + highest) // 2
            first, rises = _first_above(operations, middle, True)
            if self._splits_at(first) == rises:
                highest = middle
            else:
                lowest = middle + 1
        return int(lowest)

    # What cannot be followed

    __floordiv__ = __rfloordiv__ = _refusing("floordiv")
    __mod__ = __rmod__ = _refusing("mod")
    __divmod__ = __rdivmod__ = _refusing("divmod")
    __pow__ = __rpow__ = _refusing("pow")
    __rtruediv__ = _refusing("truediv")
    __pos__ = _refusing("pos")
    __abs__ = _refusing("abs")
    __float__ = _refusing("float")
    __complex__ = _refusing("complex")
    __index__ = _refusing("index")
    __str__ = __repr__ = __format__ = _refusing("text")
    __hash__ = _refusing("hash")
    __reduce_ex__ = _refusing("pickle")

    def _number(self, value: Any, what: str) -> Any:
        """Return an ordinary number; refuse anything else, in words that begin with `what`."""
        if isinstance(value, Uniform):
            self._tape.refuse("compares or combines two random numbers, which is not followed")
        if not isinstance(value, _ORDINARY):
            kind = type(value).__name__
            self._tape.refuse(f"{what} a {kind}; write float(...) around it")

        number: Any = value.item() if isinstance(value, np.generic) else value
        if number != number:  # so does not-a-number, and nothing else
            self._tape.refuse(f"{what} nan")
        return number

    def __copy__(self) -> "Uniform":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Uniform":
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # Python and NumPy ask for these on their own
        self._tape.refuse(f"asks for .{name} of a random number, which is not followed")


def _opposite(answer: Any) -> Any:
    """Return the opposite of an answer, or of an array of answers."""
    return not answer if type(answer) is bool else np.logical_not(answer)


def _value(operations: Operations, k: int) -> Any:
    """Return the number for one ``k``, computed as the client does."""
    number: Any = k / GRID
    for name, other in operations:
        number = _OPERATIONS[name](number, other)
    return number


@lru_cache(maxsize=100_000)
def _first_above(operations: Operations, threshold: Any, or_equal: bool) -> tuple[int, bool]:
    """Return where the number passes a threshold.

    Returns
    -------
    first : int
        The smallest ``k`` on the other side of the threshold than 0 is, or `GRID` if there is none.
    rises : bool
        Whether the number grows with ``k``. Then the ``k`` before `first` are below the threshold,
        else those from `first` on are.
    """
    if not operations:
        return _first_plain(threshold, or_equal), True

    rises = bool(_value(operations, 0) <= _value(operations, GRID - 1))
    is_below = operator.le if or_equal else operator.lt

    low = 0
    high = GRID
    while low < high:
        middle = (low + high) // 2
        if is_below(_value(operations, middle), threshold) == rises:
            low = middle + 1
        else:
            high = middle
    return low, rises


def _first_plain(threshold: Any, or_equal: bool) -> int:
    """Return the smallest ``k`` for which ``k / GRID`` is not below the threshold."""
    if math.isinf(threshold):
        return GRID if threshold > 0 else 0

    exact = Fraction(threshold) * GRID
    if or_equal:
        return math.floor(exact) + 1
    return math.ceil(exact)
