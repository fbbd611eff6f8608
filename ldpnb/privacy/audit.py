"""The loss of a randomiser: exact where its outputs can be enumerated, else a lower bound at a stated confidence.

A lower bound above a claimed epsilon refutes the claim; one below it proves nothing, since a test can miss the most
revealing outputs.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from operator import ge, lt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta

from ldpnb import checks
from ldpnb.privacy.channel import privacy_loss

Event = Callable[[Any], bool]
"""A set of outputs, as its indicator function."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found.

    Parameters
    ----------
    epsilon : float
        Exact loss, or a lower bound on it, nats.
    exact : bool
    failure : float
        Probability with which the lower bound may be wrong, at most; 0 if exact.
    inputs : (object, object)
        The likelier and the less likely input of the outputs found.
    outputs : str
        The outputs that distinguish them.
    """

    epsilon: float
    exact: bool
    failure: float
    inputs: tuple[Any, Any]
    outputs: str

    def refutes(self, claimed: float) -> bool:
        """Return whether the loss is larger than the claimed epsilon, up to rounding."""
        return bool(self.epsilon > claimed * (1 + 1e-9) + 1e-12)


def audit(
    randomiser: Any,
    inputs: Sequence[Any] = (),
    *,
    draws: int = 20_000,
    failure: float = 1e-3,
    rng: np.random.Generator | None = None,
) -> Audit:
    """Audit a channel, a mechanism of this package, or any callable.

    Parameters
    ----------
    randomiser : (outputs, inputs) float, object with ``channel()``, or callable
        A callable takes one input and a generator, ``randomiser(value, rng)``, and returns a report: a number, or
        anything that can be a key of a dictionary.
    inputs : sequence
        What a callable is tried on, at least two.
    draws : int
        Reports of a callable per input: half choose the outputs to test, half test them.
    failure : float
        Probability that the lower bound of a callable may be wrong, over all pairs of inputs together.
    rng : numpy.random.Generator, optional
        Of a callable's draws; needed for one.

    Examples
    --------
    >>> from ldpnb.mechanisms.frequency import UnaryEncoding
    >>> round(audit(UnaryEncoding.optimised(1.0, 3)).epsilon, 12)
    1.0
    >>> def careless(value, rng):  # claims ln 3, tells the truth with 0.9
    ...     return value if rng.random() < 0.9 else 1 - value
    >>> found = audit(careless, [0, 1], rng=np.random.default_rng(1))
    >>> found.exact, found.refutes(np.log(3)), found.refutes(np.log(9))
    (False, True, False)
    """
    if hasattr(randomiser, "channel"):
        return _exact(randomiser.channel())
    if not callable(randomiser):
        return _exact(randomiser)
    if rng is None or len(inputs) < 2:
        raise ValueError(f"a callable needs rng and at least two inputs, got rng={rng} and {len(inputs)} inputs")
    half, risk = checks.whole(draws=draws, at_least=2) // 2, checks.open_probability(failure=failure)
    chosen = [Counter(_report(randomiser(value, rng)) for _ in range(half)) for value in inputs]
    tested = [Counter(_report(randomiser(value, rng)) for _ in range(half)) for value in inputs]
    pairs = list(permutations(range(len(inputs)), 2))
    bounds = [_bound(chosen[i], chosen[j], tested[i], tested[j], half, risk / len(pairs)) for i, j in pairs]
    best = int(np.argmax([bound for bound, _ in bounds]))
    (i, j), (epsilon, outputs) = pairs[best], bounds[best]
    return Audit(max(epsilon, 0.0), False, risk, (inputs[i], inputs[j]), outputs)


def _exact(channel: ArrayLike) -> Audit:
    loss = privacy_loss(channel)
    return Audit(loss.epsilon, True, 0.0, loss.inputs, f"output {loss.output}")


def _report(output: Any) -> Any:
    return tuple(output.tolist()) if isinstance(output, np.ndarray) and output.ndim else output


def _bound(
    first: Counter[Any], second: Counter[Any], one: Counter[Any], other: Counter[Any], draws: int, failure: float
) -> tuple[float, str]:
    """Return a lower bound on the loss between two inputs, from the set of outputs that the first halves suggest."""
    events = _events(first, second)
    # the expected bound of each event on the half that chooses
    guesses = [_clopper_pearson(_inside(first, e), _inside(second, e), draws, failure) for _, e in events]
    name, event = events[int(np.argmax(guesses))]
    return _clopper_pearson(_inside(one, event), _inside(other, event), draws, failure), name


def _events(first: Counter[Any], second: Counter[Any]) -> list[tuple[str, Event]]:
    """Return sets of outputs to test: by likelihood ratio, and numbers also by a threshold."""
    ratio = {y: (first[y] + 1) / (second[y] + 1) for y in {*first, *second}}
    levels = np.unique(np.quantile(list(ratio.values()), np.linspace(0, 1, 20)))
    repeated = max(first.values()) > 1
    events = [(f"likelihood ratio >= {level:.3g}", _at_least(ratio, level)) for level in levels if repeated]
    if all(isinstance(y, int | float | np.number) for y in ratio):
        for cut in np.quantile(sorted(ratio), np.linspace(0.01, 0.99, 49)):
            events += [(f"<= {cut:.6g}", partial(ge, cut)), (f"> {cut:.6g}", partial(lt, cut))]
    return events or [("any", lambda _y: True)]


def _at_least(ratio: dict[Any, float], level: float) -> Event:
    return lambda y: ratio.get(y, 0.0) >= level


def _inside(reports: Counter[Any], event: Event) -> int:
    return sum(times for y, times in reports.items() if event(y))


def _clopper_pearson(hits: int, others: int, draws: int, failure: float) -> float:
    """Return ``ln`` of a lower limit of the first probability over an upper of the second, each at failure / 2."""
    low = beta.ppf(failure / 2, hits, draws - hits + 1) if hits else 0.0
    high = beta.ppf(1 - failure / 2, others + 1, draws - others) if others < draws else 1.0
    return float(np.log(low / high)) if low > 0 else -np.inf
