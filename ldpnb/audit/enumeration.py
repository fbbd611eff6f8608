"""Run a client on every path of its random draws."""

import copy
import inspect
import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ldpnb import checks
from ldpnb.audit.channel import ExactChannel
from ldpnb.audit.sources import replaced
from ldpnb.audit.tape import AuditError, Left, Tape
from ldpnb.audit.uniforms import Uniform

Client = Callable[..., Any]
Path = list[tuple[Any, int]]
"""The choices of a run, in order."""

TakenPath = tuple[Any, Path, Any]
"""An input, a path that was taken for it, and the output at its end."""

REPEATED = 1_000
"""About so many paths are taken again."""

_LEAST_REPEATED = 50
"""At least so many runs are made again, if there are fewer paths."""

_GENERATORS = frozenset({"rng", "generator", "gen", "random_state", "random", "prng", "rand", "g"})
"""Names that the second parameter of a client may have."""

_LEAST_PATIENCE = 1e-3
_MOST_PATIENCE = 86_400

_SIMPLE = frozenset({int, bool, str, bytes, type(None)})
"""Types whose values are compared as they are."""


def exact_channel(
    client: Client,
    inputs: Iterable[Any],
    *,
    limit: int = 100_000,
    cut: float = 0.0,
    patience: float = 5.0,
) -> ExactChannel:
    """Return the exact channel of a client, by running it on every path of its random draws.

    A client takes the value of one user and returns the output that an observer sees. An integer
    draw is a branch for each of its values, and a uniform number is an interval that splits where
    the client compares it. So every probability is exact, down to the ``2**53`` values that a
    uniform number of Python or NumPy has.

    Parameters
    ----------
    client : callable
        ``client(value)``, which draws from `random`, `secrets`, the functions of `numpy.random` or
        an unseeded ``default_rng()``; or ``client(value, rng)``, which draws from the Generator
        that it is given. It must start afresh at every call.
    inputs : iterable
        The values that a user can hold, two or more, all different.
    limit : int, optional
        The largest number of paths, over all inputs.
    cut : float, optional
        In ``[0, 1)``. Paths that are less likely are left, and the loss becomes a certified bound
        (`ExactChannel.delta`, `ExactChannel.lower_bound`). Without it, loops that end only with
        probability 1 are refused.
    patience : float, optional
        Seconds for which the client may run without drawing or returning, between a thousandth and
        a day. It is watched in the
        main thread only, and not on Windows.

    Returns
    -------
    ExactChannel
        Its `probabilities` are an array of outputs by inputs; `epsilon` is the exact loss, attained
        by the inputs `pair` at the output `output`. ``print`` says it in four lines.

    Raises
    ------
    AuditError
        If the client cannot be followed: it returns a random number or computes with it other than
        by sums, products with constants and rounding; draws continuous noise, from a generator of
        its own or in compiled code; seeds a generator; remembers something between calls; raises an
        error; or has too many paths. The message is one line and says what to do.

    Notes
    -----
    During the call the functions of `random`, `secrets` and `numpy.random` are replaced for this
    thread, and afterwards restored, also after an error. Other threads keep the real ones. One call
    runs at a time in a process.

    Examples
    --------
    >>> import random
    >>> def respond(answer):
    ...     return answer if random.random() < 0.75 else 1 - answer
    >>> channel = exact_channel(respond, [0, 1])
    >>> print(channel)
    2 inputs, 2 outputs, 4 paths
    epsilon is 1.09861228867, where any two inputs are neighbours
    output 0 has probability 0.75 from input 0 and 0.25 from input 1
    a pure protocol with p = 0.75 and q = 0.25
    >>> channel.probabilities.tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    >>> channel.is_unbiased(lambda report: (report - 0.25) / 0.5)
    True
    """
    if not callable(client):
        raise TypeError(f"client must be callable, got client={checks.shortened(client)}")
    values = _distinct(inputs)
    checks.whole(limit, "limit", at_least=1)
    checks.numbers(patience, "patience", low=_LEAST_PATIENCE, high=_MOST_PATIENCE)
    if checks.probability(cut, "cut") == 1:
        raise ValueError(f"cut must be < 1, got cut={cut}")

    tape = Tape(limit, Fraction(cut))
    columns = []
    lost = []
    taken: list[TakenPath] = []
    kinds: dict[Any, Any] = {}
    per_input = 1 + REPEATED // len(values)
    with replaced(tape, patience) as generator:
        call = _with_generator(client, generator)
        for value in values:
            column, paths = _column(tape, call, value, per_input, kinds)
            columns.append(column)
            lost.append(tape.lost)
            taken += [(value, path, output) for path, output in paths]
        _repeat(tape, call, taken)

    outputs = _in_order(set().union(*columns))
    rows = []
    for output in outputs:
        rows.append(tuple(column.get(output, Fraction(0)) for column in columns))
    return ExactChannel(values, outputs, tuple(rows), tuple(lost), tape.paths)


def _distinct(inputs: Iterable[Any]) -> tuple[Any, ...]:
    """Return the inputs, which must be two or more, and different."""
    if isinstance(inputs, str | bytes) or not isinstance(inputs, Iterable):
        raise TypeError(f"inputs must be a sequence of values, got {checks.shortened(inputs)}")
    values = tuple(inputs.tolist() if isinstance(inputs, np.ndarray) else inputs)
    if len(values) < 2:
        raise ValueError(f"inputs must have two or more values, got {len(values)}")
    seen: set[Any] = set()
    for value in values:
        key = (type(value).__name__, repr(value))
        if key in seen:
            raise ValueError(f"inputs must be different, got {checks.shortened(value)} twice")
        seen.add(key)
    return values


Column = dict[Any, Fraction]
"""The probability of every output, given one input."""


def _column(
    tape: Tape, call: Client, value: Any, most: int, kinds: dict[Any, Any]
) -> tuple[Column, list[tuple[Path, Any]]]:
    """Return the column of the channel for one input, and up to `most` paths with their outputs.

    `kinds` has the types of the outputs so far, and gets those of new ones.
    """
    # For every output, the favourable cases by the number of possible ones: few fractions to add.
    cases: dict[Any, dict[int, int]] = {}
    paths: list[tuple[Path, Any]] = []
    tape.start()

    while True:
        is_whole, output = _run(tape, call, value)
        if is_whole:
            favourable, possible = tape.mass
            of_output = cases.setdefault(output, {})
            found = _kinds(output)
            if kinds.setdefault(output, found) != found:
                raise AuditError(_of_two_kinds(output, kinds[output]))
            of_output[possible] = of_output.get(possible, 0) + favourable
            if len(paths) < most:
                paths.append((tape.path, output))
        if not tape.advance():
            break

    column = {}
    for output, of_output in cases.items():
        parts = [Fraction(favourable, possible) for possible, favourable in of_output.items()]
        column[output] = sum(parts, Fraction(0))
    return column, paths


def _repeat(tape: Tape, call: Client, taken: list[TakenPath]) -> None:
    """Take paths again: a client that remembers something, or looks at a clock, may then differ."""
    rounds = max(2, math.ceil(_LEAST_REPEATED / max(len(taken), 1)))
    for value, path, output in taken:
        for _ in range(rounds):
            tape.repeat(path)
            if _run(tape, call, value) != (True, output):
                raise AuditError(
                    "the client gives two outputs for the same draws: it remembers something "
                    "between calls, or draws where it cannot be followed"
                )


def _run(tape: Tape, call: Client, value: Any) -> tuple[bool, Any]:
    """Return whether the path was taken to its end, and the output."""
    tape.rewind()
    output = None
    try:
        output = _plain(tape, call(copy.deepcopy(value)))
    except KeyboardInterrupt:
        raise
    except Left:
        pass
    except BaseException as error:
        if not tape.is_over:
            raise AuditError(_raised(error, value)) from error

    if tape.refusal:
        raise AuditError(tape.refusal)
    if not tape.is_complete:
        raise AuditError("the client does not repeat itself: it remembers something between calls")
    return not tape.is_over, output


def _raised(error: BaseException, value: Any) -> str:
    """Return in words which error a client has raised, and for which input."""
    what = type(error).__name__
    detail = checks.shown(" ".join(str(error).split()))
    said = f"{what}: {detail}" if detail else what
    return f"the client raises {said}, for input {checks.shortened(value)}"


def _with_generator(client: Client, generator: np.random.Generator) -> Client:
    """Return the client as a function of the value alone."""
    try:
        parameters = inspect.signature(client).parameters
    except (TypeError, ValueError):
        return client
    if "rng" in parameters:
        return lambda value: client(value, rng=generator)

    required = [
        one
        for one in parameters.values()
        if one.default is one.empty and one.kind <= one.POSITIONAL_OR_KEYWORD
    ]
    if len(required) < 2:
        return client
    if len(required) > 2 or required[1].name.lower() not in _GENERATORS:
        names = ", ".join(one.name for one in required)
        raise TypeError(
            f"client must be client(value) or client(value, rng), but it needs ({names}); set the "
            "others with functools.partial or with defaults"
        )
    return lambda value: client(value, generator)


def _plain(tape: Tape, output: Any) -> Any:
    """Return an output as it can be compared: collections as tuples, sets in order."""
    if type(output) in _SIMPLE:
        return output
    if isinstance(output, Uniform):
        tape.refuse("returns a continuous random number, which is not followed")
    if inspect.iscoroutine(output):
        output.close()
        tape.refuse("is an async function; give one that awaits it and returns the output")
    if isinstance(output, np.ndarray | np.generic):
        output = output.tolist()
        if isinstance(output, Uniform):
            return _plain(tape, output)

    if isinstance(output, Iterator):
        output = list(itertools.islice(output, tape.limit + 1))
        if len(output) > tape.limit:
            tape.refuse(f"returns an iterator of more than {tape.limit:,} entries")
    if isinstance(output, dict):
        return _in_order(_plain(tape, item) for item in output.items())
    if isinstance(output, set | frozenset):
        return _in_order(_plain(tape, entry) for entry in output)
    if isinstance(output, Collection) and not isinstance(output, str | bytes):
        return tuple([entry if type(entry) in _SIMPLE else _plain(tape, entry) for entry in output])

    if isinstance(output, float) and (not math.isfinite(output) or str(output) == "-0.0"):
        return str(output)  # an observer tells these apart, but == does not
    kind = type(output)
    hashing: Any = kind.__hash__
    if hashing is None or hashing is object.__hash__:  # two equal ones would not be equal
        tape.refuse(
            f"returns an object of type {kind.__name__}, which cannot be compared; "
            "return numbers, texts, tuples, lists or arrays"
        )
    return output


def _kinds(output: Any) -> Any:
    """Return the type of an output, or those of the entries of a tuple."""
    if type(output) is not tuple:
        return type(output)
    kinds = tuple(map(type, output))
    return tuple(map(_kinds, output)) if tuple in kinds else kinds


def _of_two_kinds(output: Any, kinds: Any) -> str:
    """Return in words that equal outputs have different types, by which an observer tells them."""
    found = kinds if isinstance(kinds, tuple) else (kinds,)
    others = output if isinstance(output, tuple) else (output,)
    for kind, entry in zip(found, others, strict=True):
        if kind is not type(entry) and isinstance(kind, type):
            names = f"{kind.__name__} and {type(entry).__name__}"
            break
    else:
        names = "different types"
    return (
        f"the client returns the output {checks.shortened(output)} as {names}, which are equal in "
        "Python but not in a message; return one type, such as int(...)"
    )


def _in_order(outputs: Iterable[Any]) -> tuple[Any, ...]:
    """Return outputs in ascending order, or by their texts if they cannot be compared."""
    every = list(outputs)
    try:
        return tuple(sorted(every))
    except TypeError:
        return tuple(sorted(every, key=repr))
