"""Sentences with numbers that the notebook's own tables hold."""

from collections.abc import Iterable


def say(text: str) -> None:
    """Show a paragraph of Markdown, its numbers put in by the cell: ``say(f"The loss is least at {place:.3g}.")``."""
    from IPython.display import display

    display({"text/markdown": text, "text/plain": text}, raw=True)


def solution(text: str) -> None:
    """Show the solution of an exercise, folded away until its reader unfolds it; see `say`."""
    from IPython.display import display

    folded = f"<details><summary>Solution</summary>\n\n{text}\n\n</details>"
    display({"text/markdown": folded, "text/plain": text}, raw=True)


def short(value: float, digits: int = 3) -> str:
    """Return a number for reading: `digits` significant digits, and no exponent between a thousandth and a billion.

    >>> short(1234567.8), short(0.012345), short(1e-7), short(2.0), short(99_999.6)
    ('1,234,568', '0.0123', '1e-07', '2', '100,000')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.{digits}g}"


def listed(items: Iterable[object]) -> str:
    """Return things in words.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    words = [str(item) for item in items]
    return " and ".join([*([", ".join(words[:-1])] if words[1:] else []), *words[-1:]])
