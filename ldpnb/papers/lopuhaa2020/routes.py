"""Independent ways to the numbers of lopuhaa2020: nothing here uses the package's estimators, chances or bounds.

Definitions are written out, roots found by bisection, laws enumerated and integrals taken by quadrature.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import gammaln, roots_jacobi

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


def unary_channel(p: float, q: float, domain_size: int) -> Array:
    """Return the ``(2^a, a)`` channel of unary encoding, bit ``x`` of an output being its ``x``-th binary digit."""
    bits = (np.arange(2**domain_size)[:, None] >> np.arange(domain_size)) & 1
    channel = np.empty(bits.shape)
    for x in range(domain_size):
        chances = np.full(domain_size, q)
        chances[x] = p
        channel[:, x] = np.where(bits == 1, chances, 1 - chances).prod(axis=1)
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


def inverted(channel: Array, tallies: NDArray[np.integer]) -> Array:
    """Return the shares of values whose expected shares of reports are those seen, ``(..., a)``."""
    seen = tallies / tallies.sum(axis=-1, keepdims=True)
    return np.linalg.solve(channel, seen[..., None])[..., 0]


def bisect(function: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Return, for many at once, the root of a falling function between two limits."""
    for _ in range(200):
        middle = (low + high) / 2
        above = function(middle) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return (low + high) / 2


def projected(vectors: Array) -> Array:
    """Return the projections of many vectors onto the simplex, the threshold found by bisection."""
    top = vectors.max(axis=1, keepdims=True)
    threshold = bisect(lambda t: np.maximum(vectors - t, 0).sum(axis=1, keepdims=True) - 1, top - 2, top)
    return np.maximum(vectors - threshold, 0)


def levelled(heights: NDArray[Any], offset: float) -> Array:
    """Return ``max(heights / level - offset, 0)`` of sum 1, the level found by bisection.

    From tallies, with offset ``1/c``, it is the maximum-likelihood estimate under k-RR, by the KKT conditions.
    """
    excess = lambda level: np.maximum(heights / level - offset, 0).sum(axis=1, keepdims=True) - 1  # noqa: E731
    highest = heights.sum(axis=1, keepdims=True) / offset
    return np.maximum(heights / bisect(excess, 1e-12 * highest, highest) - offset, 0)


def steepest(channel: Array, tallies: NDArray[np.integer], estimate: Array) -> float:
    """Return the largest partial derivative of the log-likelihood: the number of users exactly at a maximum."""
    fitted = channel @ estimate
    return float(((tallies / np.where(tallies > 0, fitted, 1)) @ channel).max())


@dataclass(frozen=True, slots=True)
class Sequences:
    """Every sequence of reports of a few users: its tallies, its chance, and what it says of both targets.

    Parameters
    ----------
    tallies : (sequences, outputs) int
    chances : (sequences,) float
    means : dict of str to (sequences, values) float
        Posterior means by target, ``distribution`` and ``frequency``.
    squares : dict of str to (sequences,) float
        Posterior means of the squared length.
    """

    tallies: Counts
    chances: Array
    means: dict[str, Array]
    squares: dict[str, Array]

    def risks(self, estimates: Array | None = None) -> list[float]:
        """Return the mean squared errors of an estimate given for every sequence, or of the posterior means."""
        found = []
        for target, mean in self.means.items():
            given = mean if estimates is None else estimates
            errors = self.squares[target] - 2 * (mean * given).sum(axis=1) + (given**2).sum(axis=1)
            found.append(float(self.chances @ errors))
        return found


def all_sequences(channel: Array, users: int, prior: Array) -> Sequences:
    """Enumerate what a few users hold and report, one by one, by the definitions of Dirichlet prior and channel."""
    outputs, values = channel.shape
    held = np.array(list(product(range(values), repeat=users)))
    seen = np.array(list(product(range(outputs), repeat=users)))
    counts = (held[:, :, None] == np.arange(values)).sum(axis=1)
    tallies = (seen[:, :, None] == np.arange(outputs)).sum(axis=1)
    joint = np.array([urn(row, prior) for row in held]) * channel[seen[:, None, :], held[None, :, :]].prod(axis=2)
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


def mixture(channel: Array, tallies: Counts, prior: Array) -> tuple[Array, Array, int]:
    """Return the posterior means by Proposition A.3 as stated, and the number of its summands.

    A summand is a table of how many of the users who gave each output hold each value.
    """
    values, users = channel.shape[1], int(tallies.sum())
    splits = [[s for s in product(range(count + 1), repeat=values) if sum(s) == count] for count in tallies]
    weights, held = [], []
    for table in product(*splits):
        rows = np.array(table)
        log_weight = gammaln(tallies + 1).sum() - gammaln(rows + 1).sum() + (rows * np.log(channel)).sum()
        held.append(rows.sum(axis=0))
        weights.append(np.exp(log_weight + gammaln(prior + held[-1]).sum()))
    shares, counts = np.array(weights) / np.sum(weights), np.array(held)
    return shares @ (prior + counts) / (prior.sum() + users), shares @ counts / users, len(shares)


def integral_mean(channel: Array, tallies: Counts, prior: Array) -> Array:
    """Return the ratio of integrals (21) for a few values, by Gauss-Jacobi quadrature over sticks, exact here."""
    nodes = int(tallies.sum()) // 2 + 3
    points, weights = np.ones((1, 0)), np.ones(1)
    for x in range(len(prior) - 1):
        after = float(prior[x + 1 :].sum())
        roots, chances = roots_jacobi(nodes, after - 1, float(prior[x]) - 1)
        left = 1 - points.sum(axis=1)
        points = np.column_stack([np.repeat(points, nodes, axis=0), np.outer(left, (1 + roots) / 2).ravel()])
        weights = np.outer(weights, chances / chances.sum()).ravel()
    points = np.column_stack([points, 1 - points.sum(axis=1)])
    weights = weights * np.exp(np.log(points @ channel.T) @ tallies)
    mean: Array = weights @ points / weights.sum()
    return mean


def holders_laws(users: int, epsilon: float) -> Array:
    """Return the law of the reports of the first of two values, a row for each number of users who hold it."""
    chance = np.exp(epsilon) / (np.exp(epsilon) + 1)
    return np.array([np.convolve(_binomial(t, chance), _binomial(users - t, 1 - chance)) for t in range(users + 1)])


def _binomial(trials: int, chance: float) -> Array:
    return np.array([comb(trials, j) * chance**j * (1 - chance) ** (trials - j) for j in range(trials + 1)])


def binary_entropies(users: int, epsilon: float) -> tuple[float, float]:
    """Return ``h(P|Y)`` and ``H(T|Y)`` for randomised response on two values under Jeffreys' prior.

    The first by adaptive quadrature, in the angle with ``p = sin^2``, which the prior spreads evenly.
    """
    distribution = 0.0
    for seen in range(users + 1):

        def density(angle: float, seen: int = seen) -> float:
            chance = (1 + np.expm1(epsilon) * np.sin(angle) ** 2) / (np.exp(epsilon) + 1)
            return float(comb(users, seen) * chance**seen * (1 - chance) ** (users - seen) * 2 / np.pi)

        total = quad(density, 0, np.pi / 2, epsabs=0, epsrel=1e-12)[0]
        own = lambda u, f=density, m=total: -f(u) * np.log(f(u) / m / np.sin(2 * u))  # noqa: E731
        distribution += quad(own, 0, np.pi / 2, epsabs=1e-12, epsrel=1e-10, limit=200)[0]
    held = np.arange(users + 1)
    prior = np.exp(gammaln(held + 0.5) + gammaln(users - held + 0.5) - gammaln(held + 1) - gammaln(users - held + 1))
    joint = holders_laws(users, epsilon) * prior[:, None] / np.pi
    return distribution, -float((joint * np.log(joint / joint.sum(axis=0))).sum())


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
