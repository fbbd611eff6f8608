"""Outputs of cells: rich ones in a notebook, plain text where it runs as a script."""

from collections.abc import Mapping
from typing import Any


def in_notebook() -> bool:
    """Return whether IPython runs this, which can show more than text."""
    from IPython import get_ipython

    return get_ipython() is not None


def show(bundle: Mapping[str, Any], metadata: Mapping[str, Any] | None = None) -> None:
    """Show one output.

    Parameters
    ----------
    bundle : mapping
        The output by MIME type; its ``text/plain`` is what a script prints.
    metadata : mapping, optional
        What a front end should know of it, by MIME type.
    """
    if not in_notebook():
        print(bundle["text/plain"])
        return

    from IPython.display import display

    display(dict(bundle), metadata=dict(metadata or {}), raw=True)
