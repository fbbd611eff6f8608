"""Numbers and lists as they stand in a sentence."""

import re
from collections.abc import Iterable


def short(value: float, digits: int = 3) -> str:
    """Return a number for reading.

    Parameters
    ----------
    value : float
        The number.
    digits : int
        Significant digits below 1,000; larger numbers are rounded to whole ones.

    Returns
    -------
    str
        The number, with an exponent below a ten-thousandth and from a billion on.

    Examples
    --------
    >>> short(1234567.8), short(0.012345), short(2.0), short(99_999.6)
    ('1,234,568', '0.0123', '2', '100,000')
    >>> short(1e-7), short(1e9)
    ('1e-7', '1e9')
    """
    if 1000 <= abs(value) < 1e9:
        return f"{value:,.0f}"

    # 1e-07 becomes 1e-7, and 1e+09 becomes 1e9.
    return re.sub(r"e\+?(-?)0?", r"e\1", f"{value:.{digits}g}")


def exact(number: float) -> str:
    """Return a number for typing or comparing: all its digits, and no more than are needed.

    Examples
    --------
    >>> exact(12345678.0), exact(0.1), exact(-0.5)
    ('12345678', '0.1', '-0.5')
    """
    return repr(float(number)).removesuffix(".0")


def listed(items: Iterable[object]) -> str:
    """Return things in words, with "and" before the last one.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    words = [str(item) for item in items]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
