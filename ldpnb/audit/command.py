"""The command line of audits."""

import contextlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from ldpnb.audit.channel import CLOSE, ExactChannel
from ldpnb.audit.enumeration import exact_channel
from ldpnb.audit.files import read_channel
from ldpnb.audit.tape import AuditError
from ldpnb.checks import UsageError, as_usage, positive, shown
from ldpnb.privacy.channel import SUM_TOLERANCE

LIMIT = 100_000

_NUMBER = re.compile(r"[-+]?[0-9.]{1,25}(e[-+]?[0-9]{1,2})?", re.IGNORECASE)

_CODE = re.compile("0[0-9]+")
"""A word such as 01: bits and postcodes are written so. All words beside it are codes too."""


@click.command(short_help="Compute the exact privacy loss of your code, or of a saved channel.")
@click.argument("client", metavar="CHANNEL.CSV|MODULE:FUNCTION")
@click.option(
    "--inputs", metavar="VALUES", help="Values that a user can hold, such as 0:4 or yes,no,unsure."
)
@click.option(
    "--epsilon",
    type=float,
    help="The stated budget in nats; the exit code is 1 if the loss exceeds it.",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    help=f"Largest number of paths to run.  [default: {LIMIT}]",
)
@click.option("--cut", type=float, help="Leave out paths whose probability is below this.")
@click.option(
    "--patience",
    type=float,
    help="Longest time that the code may run without a random choice, in seconds.  [default: 5]",
)
def audit(
    client: str,
    inputs: str | None,
    epsilon: float | None,
    limit: int | None,
    cut: float | None,
    patience: float | None,
) -> None:
    """Print the exact privacy loss of a channel or of a client's code, and where it is attained.

    CHANNEL.CSV has a row for each output and a column for each input. Names of both are optional.
    Each column must sum to 1. Deviations up to 1e-6, in a sum or from a stated epsilon, are taken
    for the rounding of 32-bit floats.

    MODULE:FUNCTION is a client, function(value) or function(value, rng), and MODULE may be a file
    of the current folder. The client's code is run on every path of its random draws, so run only
    code that you trust.
    """
    if epsilon is not None:
        with as_usage():
            positive(epsilon, "epsilon")

    path = Path(client)
    if path.suffix.lower() == ".csv" or path.exists() or ":" not in client:
        of_clients = {"inputs": inputs, "limit": limit, "cut": cut, "patience": patience}
        for option, value in of_clients.items():
            if value is not None:
                raise UsageError(f"--{option} is for MODULE:FUNCTION, got the file {shown(client)}")
        channel = read_channel(path)
        tolerance = SUM_TOLERANCE
    else:
        settings = {"limit": limit, "cut": cut, "patience": patience}
        given = {name: value for name, value in settings.items() if value is not None}
        channel = _channel_of(client, inputs, given)
        tolerance = CLOSE

    click.echo(str(channel))
    if epsilon is None:
        return
    is_exceeded = channel.exceeds(epsilon, tolerance=tolerance)
    word = "is more than" if is_exceeded else "is within"
    at_delta = f" at delta {channel.delta:.3g}" if any(channel.lost) and not is_exceeded else ""
    click.echo(
        f"the loss{at_delta} {word} the stated epsilon of {epsilon:.12g} "
        f"(up to {tolerance:g} for rounding)"
    )
    raise SystemExit(int(is_exceeded))


def _channel_of(name: str, inputs: str | None, settings: dict[str, Any]) -> ExactChannel:
    """Return the channel of a client that is named ``module:function``."""
    if inputs is None:
        raise UsageError(f"--inputs must be given for {shown(name)}, such as --inputs 0:4")
    values = _values(inputs, settings.get("limit", LIMIT))
    function = _function(name)
    try:
        return exact_channel(function, values, **settings)
    except AuditError as error:
        raise click.ClickException(str(error)) from None
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from None


def _function(name: str) -> Callable[..., Any]:
    """Return a function; its module may lie in this folder."""
    try:
        with _importable_from_here():
            return pkgutil.resolve_name(name)
    except (ModuleNotFoundError, AttributeError, ValueError) as error:
        if "/" in name or ".py:" in name:
            raise UsageError(
                "MODULE must be the name of a module such as mine for the file mine.py of the "
                f"current folder, got {shown(name)}"
            ) from None
        raise UsageError(f"there is no function {shown(name)}: {shown(str(error))}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        reason = shown(f"{type(error).__name__}: {' '.join(str(error).split())}")
        raise click.ClickException(f"{shown(name)} cannot be imported: {reason}") from None


@contextlib.contextmanager
def _importable_from_here() -> Iterator[None]:
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(here)


def _values(text: str, limit: int) -> list[Any]:
    """Return the values of ``0:4`` (0 to 3), or of a list with commas."""
    low, colon, high = text.partition(":")
    if colon:
        try:
            first = int(low)
            after = int(high)
        except ValueError:
            rule = "low:high in whole numbers, or a list with commas"
            raise UsageError(f"inputs must be {rule}, got {shown(text)}") from None
        if after - first > limit:
            raise UsageError(f"inputs must have at most {limit:,} values, got {shown(text)}")
        return list(range(first, after))
    parts = [part.strip() for part in text.split(",")]
    if "" in parts:
        raise UsageError(f"inputs must have a value between any two commas, got {shown(text)}")
    if any(_CODE.fullmatch(part) for part in parts):
        return parts
    return [_value(part) for part in parts]


def _value(text: str) -> Any:
    """Return a number if a text is one; words such as ``nan`` and ``inf`` are words."""
    if not _NUMBER.fullmatch(text):
        return text
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text
