"""Libraries that an installation may lack.

Mechanisms, losses, estimators and audits need numpy and scipy only. Notebooks, figures, proofs and
the command line need more, which the extra ``notebooks`` brings.
"""

from collections.abc import Iterator
from contextlib import contextmanager


def missing(library: str | None) -> str:
    """Say that a library is missing, and what installs it."""
    return f"No module named {library!r}; install it with: pip install 'ldpnb[notebooks]'"


@contextmanager
def needed() -> Iterator[None]:
    """Let the error for a missing library say what installs it.

    It is a context manager, and can decorate a function.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        # A missing module of our own is a fault, which no extra mends.
        if (error.name or "").startswith("ldpnb"):
            raise
        raise ModuleNotFoundError(missing(error.name), name=error.name) from error
