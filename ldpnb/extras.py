"""Libraries that not every installation has.

Mechanisms, losses, estimators and audits need numpy and scipy only. Notebooks, figures, proofs and
the command line need more, which the extra ``notebooks`` brings.
"""

from collections.abc import Iterator
from contextlib import contextmanager


def missing(library: str | None) -> str:
    """Say that a library is missing, and what installs it."""
    return f"No module named {library!r}; pip install 'ldpnb[notebooks]' brings it"


@contextmanager
def needed() -> Iterator[None]:
    """Name the extra in the error for a library that is missing; also a decorator."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("ldpnb"):
            raise
        raise ModuleNotFoundError(missing(error.name), name=error.name) from error
