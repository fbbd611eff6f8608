"""Independent ways to the numbers of lopuhaa2020: nothing here uses the package's estimators, chances or bounds.

Definitions are written out, roots found by bisection and laws enumerated.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import betabinom, binom

from ldpnb import claims

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

published = partial(claims.published, "lopuhaa2020")
"""Numbers printed in lopuhaa2020, by key."""


def krr_channel(epsilon: float, domain_size: int) -> Array:
    """Return equation (103): ``e^epsilon`` on the diagonal, 1 elsewhere, over ``e^epsilon + a - 1``."""
    weights = np.exp(epsilon * np.eye(domain_size))
    channel: Array = weights / (np.exp(epsilon) + domain_size - 1)
    return channel


def bits(domain_size: int) -> Counts:
    """Return all ``2^a`` outputs of unary encoding: bit ``x`` of an output is its ``x``-th binary digit."""
    return (np.arange(2**domain_size)[:, None] >> np.arange(domain_size)) & 1


def unary_channel(p: float, q: float, domain_size: int) -> Array:
    """Return the ``(2^a, a)`` channel of unary encoding."""
    chances = np.where(np.eye(domain_size) == 1, p, q)[:, None]
    channel: Array = np.where(bits(domain_size) == 1, chances, 1 - chances).prod(axis=2).T
    return channel


def oue_channel(epsilon: float, domain_size: int) -> Array:
    """Return the channel of optimised unary encoding."""
    return unary_channel(0.5, 1 / (np.exp(epsilon) + 1), domain_size)


def set_channel(epsilon: float, domain_size: int, sets: Iterable[Sequence[int]]) -> Array:
    """Return the channel that reports one of some sets of values, those with one's own ``e^epsilon`` times likelier."""
    rows = np.array([[np.exp(epsilon * (x in chosen)) for x in range(domain_size)] for chosen in sets])
    channel: Array = rows / rows.sum(axis=0)
    return channel


def subset_channel(epsilon: float, domain_size: int, subset_size: int) -> Array:
    """Return the channel of subset selection."""
    return set_channel(epsilon, domain_size, combinations(range(domain_size), subset_size))


def loss(channel: Array) -> float:
    """Return the largest logarithm of the ratio of two entries of a row."""
    return max(float(np.log(one / other)) for row in channel for one, other in product(row, repeat=2))


def levelled(heights: NDArray[Any], offset: float) -> Array:
    """Return ``max(heights / level - offset, 0)`` of sum 1, the level found by bisection.

    From tallies, with offset ``1/c``, it is the maximum-likelihood estimate under k-RR, by the KKT conditions.
    """
    high = heights.sum(axis=1, keepdims=True) / offset
    low = np.zeros_like(high)
    for _ in range(200):
        middle = (low + high) / 2
        above = np.maximum(heights / middle - offset, 0).sum(axis=1, keepdims=True) > 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.maximum(heights / high - offset, 0)


def steepest(channel: Array, tallies: NDArray[np.integer], estimate: Array) -> float:
    """Return the largest partial derivative of the log-likelihood: the number of users exactly at a maximum."""
    fitted = channel @ estimate
    return float(((tallies / np.where(tallies > 0, fitted, 1)) @ channel).max())


@dataclass(frozen=True, slots=True)
class Sequences:
    """Every sequence of reports of a few users: its tallies, its chance, and what it says of both targets.

    By target, ``distribution`` and ``frequency``, posterior means ``(sequences, values)``, and those of the squared
    length.
    """

    tallies: Counts
    chances: Array
    means: dict[str, Array]
    squares: dict[str, Array]

    def risks(self, estimates: Array | None = None) -> list[float]:
        """Return the mean squared errors of an estimate given for every sequence, or of the posterior means."""
        errors = []
        for target, mean in self.means.items():
            given = mean if estimates is None else estimates
            each = self.squares[target] - 2 * (mean * given).sum(axis=1) + (given**2).sum(axis=1)
            errors.append(float(self.chances @ each))
        return errors


def all_sequences(channel: Array, users: int, prior: Array) -> Sequences:
    """Enumerate what a few users hold and report, one by one, by the definitions of Dirichlet prior and channel."""
    outputs, values = channel.shape
    columns = np.array(list(product(range(values), repeat=users)))
    seen = np.array(list(product(range(outputs), repeat=users)))
    counts = (columns[:, :, None] == np.arange(values)).sum(axis=1)
    tallies = (seen[:, :, None] == np.arange(outputs)).sum(axis=1)
    joint = np.array([urn(row, prior) for row in columns]) * channel[seen[:, None, :], columns[None, :, :]].prod(axis=2)
    chances = joint.sum(axis=1)
    given = joint / chances[:, None]
    total, shares = prior.sum() + users, counts / users
    squares = ((prior + counts) * (prior + counts + 1)).sum(axis=1) / (total * (total + 1))
    return Sequences(
        tallies,
        chances,
        {"distribution": given @ ((prior + counts) / total), "frequency": given @ shares},
        {"distribution": given @ squares, "frequency": given @ (shares**2).sum(axis=1)},
    )


def urn(values: NDArray[np.integer], prior: Array) -> float:
    """Return the chance of a sequence of values under a Dirichlet prior, drawn from Pólya's urn."""
    balls, chance = prior.astype(float).copy(), 1.0
    for value in values:
        chance *= balls[value] / balls.sum()
        balls[value] += 1
    return chance


def mixture(channel: Array, tallies: Counts, prior: Array) -> tuple[Array, int]:
    """Return the posterior mean of the distribution by Proposition A.3 as stated, and the number of its summands.

    A summand is a table of how many of the users who gave each output hold each value.
    """
    values = channel.shape[1]
    splits = [[s for s in product(range(count + 1), repeat=values) if sum(s) == count] for count in tallies]
    weights, parameters = [], []
    for table in product(*splits):
        rows = np.array(table)
        log_weight = gammaln(tallies + 1).sum() - gammaln(rows + 1).sum() + (rows * np.log(channel)).sum()
        parameters.append(prior + rows.sum(axis=0))
        weights.append(np.exp(log_weight + gammaln(parameters[-1]).sum()))
    mean: Array = np.array(weights) @ parameters / (np.sum(weights) * parameters[0].sum())
    return mean, len(weights)


def holders_laws(users: int, epsilon: float) -> Array:
    """Return the law of the reports of the first of two values, a row for each number of users who hold it."""
    chance, seen = krr_channel(epsilon, 2)[0, 0], np.arange(users + 1)
    own, others = ([binom.pmf(seen[: t + 1], t, p) for t in seen] for p in (chance, 1 - chance))
    return np.array([np.convolve(own[t], others[users - t]) for t in seen])


def binary_entropies(users: int, epsilon: float) -> tuple[float, float]:
    """Return ``h(P|Y)`` and ``H(T|Y)`` for randomised response on two values under Jeffreys' prior.

    The first is ``h(P)`` less what the reports tell, a mean over the angle with ``p = sin^2``, which the prior spreads
    evenly: midpoints of the angle give it to rounding.
    """
    shares, seen = np.sin((np.arange(400) + 0.5) * np.pi / 800) ** 2, np.arange(users + 1)
    law = binom.pmf(seen[:, None], users, krr_channel(epsilon, 2)[0] @ [shares, 1 - shares])
    information = (law * np.log(law / law.mean(axis=1, keepdims=True))).sum() / shares.size
    joint = holders_laws(users, epsilon) * betabinom.pmf(seen, users, 0.5, 0.5)[:, None]
    return float(np.log(np.pi / 4) - information), -float((joint * np.log(joint / joint.sum(axis=0))).sum())


def information_sum(channel: Array, point: Array) -> tuple[Array, Array]:
    """Return ``J_p`` and ``C_p`` output by output, as (36) to (38) define them."""
    size = point.size - 1
    information, covariance = np.zeros((size, size)), np.zeros((size, size))
    for row in channel:
        chance = float(row @ point)
        difference, given = row[:-1] - row[-1], (row * point / chance)[:-1]
        information += np.outer(difference, difference) / chance
        covariance += chance * (np.diag(given) - np.outer(given, given))
    return information, covariance


def limiting_error(channel: Array, point: Array) -> float:
    """Return the trace of ``J_p^-1``, completed to all values."""
    inverse = np.linalg.inv(information_sum(channel, point)[0])
    return float(np.trace(inverse) + inverse.sum())


def patterns(epsilon: float, domain_size: int) -> Array:
    """Return every row of 1 and ``e^epsilon`` that has both."""
    return np.array(list(product((1.0, np.exp(epsilon)), repeat=domain_size))[1:-1])


def uniform(domain_size: int) -> Array:
    """Return the uniform distribution."""
    return np.full(domain_size, 1 / domain_size)


def random_channels(domain_size: int, epsilon: float, number: int, rng: np.random.Generator) -> list[Array]:
    """Return epsilon-LDP channels: a few random patterns with all cyclic shifts, which equal the columns' sums."""
    channels = []
    for turn in range(number):
        rows = rng.random((1 + turn % 3, domain_size))
        rows = np.where(rng.random(rows.shape) < turn % 2, rows.round(), rows)
        turned = np.concatenate([np.roll(np.exp(epsilon * rows), shift, axis=1) for shift in range(domain_size)])
        channels.append(turned / turned.sum(axis=0))
    return channels
