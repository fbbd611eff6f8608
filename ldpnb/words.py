"""Numbers and lists as a sentence has them."""

import re
from collections.abc import Iterable


def short(value: float, digits: int = 3) -> str:
    """Return a number for reading, with `digits` significant digits.

    There is no exponent between a thousandth and a billion.

    >>> short(1234567.8), short(0.012345), short(1e-7), short(2.0), short(99_999.6), short(1e9)
    ('1,234,568', '0.0123', '1e-7', '2', '100,000', '1e9')
    """
    return (
        f"{value:,.0f}"
        if 1000 <= abs(value) < 1e9
        else re.sub(r"e\+?(-?)0?", r"e\1", f"{value:.{digits}g}")
    )


def listed(items: Iterable[object]) -> str:
    """Return things in words.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    words = [str(item) for item in items]
    return " and ".join([*([", ".join(words[:-1])] if words[1:] else []), *words[-1:]])
