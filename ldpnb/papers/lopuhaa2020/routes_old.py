"""Independent routes behind the claims of lopuhaa2020: definitions written out, bisection, and complete enumeration.

Nothing here uses the estimators, probabilities or information matrices of the package.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, roots_jacobi

from ldpnb import claims

Array = NDArray[np.float64]


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


def inverted(channel: Array, tallies: NDArray[np.integer]) -> Array:
    """Return the shares of values whose expected shares of reports are those seen, ``(..., a)``."""
    seen = tallies / tallies.sum(axis=-1, keepdims=True)
    return np.linalg.solve(channel, seen[..., None])[..., 0]


def unary_error(p: float, q: float, domain_size: int) -> float:
    """Return n times the squared error of unary encoding's unbiased frequencies, from the law of every output.

    Laws of two and three values are enumerated; every further value adds as much as the third.
    """
    errors = []
    for size in (2, 3):
        law = unary_channel(p, q, size)[:, 0]  # all hold the first value: the error is the same for all data
        estimates = (((np.arange(2**size)[:, None] >> np.arange(size)) & 1) - q) / (p - q)
        errors.append(float(law @ (estimates - np.eye(size)[0]) ** 2 @ np.ones(size)))
    return errors[0] + (domain_size - 2) * (errors[1] - errors[0])


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


def scaled(vectors: Array, offset: float) -> Array:
    """Return ``max(gamma (f + offset) - offset, 0)`` of sum 1, the factor found by bisection."""
    above = vectors + offset
    excess = lambda level: np.maximum(above / level - offset, 0).sum(axis=1, keepdims=True) - 1  # noqa: E731
    highest = above.sum(axis=1, keepdims=True) / offset
    return np.maximum(above / bisect(excess, 1e-12 * highest, highest) - offset, 0)


def krr_maximum(tallies: Array, epsilon: float) -> Array:
    """Return the maximum-likelihood estimates under k-RR from the KKT conditions, the multiplier found by bisection."""
    contrast, users = np.expm1(epsilon), tallies.sum(axis=1, keepdims=True)
    excess = lambda m: np.maximum(tallies / m - 1 / contrast, 0).sum(axis=1, keepdims=True) - 1  # noqa: E731
    multiplier = bisect(excess, 1e-12 * users, contrast * users)
    estimates: Array = np.maximum(tallies / multiplier - 1 / contrast, 0)
    return estimates


def shortfall(channel: Array, tallies: Array, estimates: Array) -> float:
    """Return by how many nats at most the worst estimate misses the maximum likelihood; infinite off the simplex."""
    if np.abs(estimates.sum(axis=1) - 1).max() > 1e-9 or estimates.min() < 0:
        return np.inf
    fitted = estimates @ channel.T
    ratio = np.where(tallies > 0, tallies / np.where(tallies > 0, fitted, 1), 0)
    return float(((ratio @ channel).max(axis=1) - tallies.sum(axis=1)).max())


def never_further(project: Callable[[Array], Array], seed: int) -> bool:
    """Return whether projecting moves no drawn vector away from a vertex of the simplex, hence from a distribution."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(0.2, 1, (200, 5))
    moved, vertices = project(vectors), np.eye(5)
    before = ((vectors[:, None] - vertices) ** 2).sum(axis=2)
    return bool((((moved[:, None] - vertices) ** 2).sum(axis=2) <= before + 1e-12).all())


def greedy(tallies: Array, epsilon: float, *, stop_when_nonnegative: bool) -> Array | None:
    """Return the estimate of Appendix B, the smallest tally removed until (110) is nonnegative or, as printed, is not.

    The printed rule may remove every value: None.
    """
    contrast, order = np.expm1(epsilon), np.argsort(tallies)
    for removed in range(tallies.size):
        kept = order[removed:]
        shares = ((tallies[kept] / tallies[kept].sum()) * (contrast + kept.size) - 1) / contrast
        if (shares.min() >= 0) == stop_when_nonnegative:
            estimate = np.zeros(tallies.size)
            estimate[kept] = shares
            return estimate
    return None


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

    tallies: NDArray[np.int64]
    chances: Array
    means: dict[str, Array]
    squares: dict[str, Array]

    def risk(self, target: str, estimates: Array) -> float:
        """Return the mean squared error of an estimate given for every sequence."""
        cross = (self.means[target] * estimates).sum(axis=1)
        return float(self.chances @ (self.squares[target] - 2 * cross + (estimates**2).sum(axis=1)))


def all_sequences(channel: Array, users: int, prior: Array) -> Sequences:
    """Enumerate what a few users hold and report, one by one, by the definitions of Dirichlet prior and channel."""
    outputs, values = channel.shape
    held = np.array(list(product(range(values), repeat=users)))
    seen = np.array(list(product(range(outputs), repeat=users)))
    counts = (held[:, :, None] == np.arange(values)).sum(axis=1)
    tallies = (seen[:, :, None] == np.arange(outputs)).sum(axis=1)
    chance_held = np.array([_urn(row, prior) for row in held])
    joint = chance_held * channel[seen[:, None, :], held[None, :, :]].prod(axis=2)
    chances = joint.sum(axis=1)
    given = joint / chances[:, None]
    total = prior.sum() + users
    centres = (prior + counts) / total
    squares = ((prior + counts) * (prior + counts + 1)).sum(axis=1) / (total * (total + 1))
    shares = counts / users
    return Sequences(
        tallies,
        chances,
        {"distribution": given @ centres, "frequency": given @ shares},
        {"distribution": given @ squares, "frequency": given @ (shares**2).sum(axis=1)},
    )


def _urn(values: NDArray[np.int64], prior: Array) -> float:
    """Return the chance of a sequence of values under a Dirichlet prior, drawn from Pólya's urn."""
    urn, chance = prior.astype(float).copy(), 1.0
    for value in values:
        chance *= urn[value] / urn.sum()
        urn[value] += 1
    return chance


def mixture_terms(channel: Array, tallies: NDArray[np.int64], prior: Array) -> tuple[Array, Array]:
    """Return the weights of the Dirichlet laws of Proposition A.3, and the users of each value ``(terms, a)`` in them.

    A summand is a table of how many of the users who gave each output hold each value.
    """
    values = channel.shape[1]
    splits = [[s for s in product(range(count + 1), repeat=values) if sum(s) == count] for count in tallies]
    weights, counts = [], []
    for table in product(*splits):
        rows = np.array(table)
        log_weight = gammaln(tallies + 1).sum() - gammaln(rows + 1).sum() + (rows * np.log(channel)).sum()
        counts.append(rows.sum(axis=0))
        weights.append(np.exp(log_weight + gammaln(prior + counts[-1]).sum()))
    return np.array(weights) / np.sum(weights), np.array(counts)


def mixture_posterior(channel: Array, tallies: NDArray[np.int64], prior: Array) -> tuple[Array, Array, int]:
    """Return the posterior means by Proposition A.3 as stated, and the number of its summands."""
    shares, held = mixture_terms(channel, tallies, prior)
    users = int(tallies.sum())
    return shares @ (prior + held) / (prior.sum() + users), shares @ held / users, len(shares)


def multinomial_law(tallies: NDArray[np.int64], chances: Array) -> Array:
    """Return the chance of each vector of tallies."""
    users = tallies.sum(axis=1)
    return np.exp(gammaln(users + 1) - gammaln(tallies + 1).sum(axis=1)) * (chances**tallies).prod(axis=1)


def likeliest_holders(users: int, seen: int, epsilon: float) -> int:
    """Return how many users most likely hold the first of two values, of whose randomised responses so many name it."""
    chance = np.exp(epsilon) / (np.exp(epsilon) + 1)
    laws = [np.convolve(_binomial(held, chance), _binomial(users - held, 1 - chance)) for held in range(users + 1)]
    return int(np.argmax([law[seen] for law in laws]))


def integral_mean(channel: Array, tallies: NDArray[np.int64], prior: Array) -> Array:
    """Return the ratio of integrals (21) for a few values, by Gauss-Jacobi quadrature over sticks, exact here."""
    nodes = int(tallies.sum()) // 2 + 3
    points, weights = np.ones((1, 0)), np.ones(1)
    for x in range(len(prior) - 1):
        after = float(prior[x + 1 :].sum())
        roots, chances = roots_jacobi(nodes, after - 1, float(prior[x]) - 1)
        sticks = (1 + roots) / 2
        left = 1 - points.sum(axis=1)
        points = np.column_stack([np.repeat(points, nodes, axis=0), np.outer(left, sticks).ravel()])
        weights = np.outer(weights, chances / chances.sum()).ravel()
    points = np.column_stack([points, 1 - points.sum(axis=1)])
    weights = weights * np.exp(np.log(points @ channel.T) @ tallies)
    mean: Array = weights @ points / weights.sum()
    return mean


def binary_entropy_of_distribution(users: int, epsilon: float) -> float:
    """Return ``h(P|Y)`` for randomised response on two values under Jeffreys' prior, from the posterior densities.

    In the angle with ``p = sin^2`` the densities are trigonometric polynomials, and ``ln sin 2u`` has the Fourier
    series ``-ln 2 - sum_k cos(4 k u) / k``: the integral is a finite sum.
    """
    nodes = 8 * users + 400
    angle = (np.arange(nodes) + 0.5) * np.pi / (2 * nodes)
    chance = (1 + np.expm1(epsilon) * np.sin(angle) ** 2) / (np.exp(epsilon) + 1)
    total = 0.0
    for seen in range(users + 1):
        joint = comb(users, seen) * chance**seen * (1 - chance) ** (users - seen)
        density = joint / joint.mean() * 2 / np.pi
        wave = np.array([2 * (joint / joint.sum()) @ np.cos(4 * k * angle) for k in range(1, users // 2 + 1)])
        log_jacobian = -np.log(2) - (wave / (2 * np.arange(1, wave.size + 1))).sum()
        own = -(joint / joint.sum()) @ np.log(density)
        total += joint.mean() * float(own + log_jacobian)
    return total


def binary_entropy_of_tallies(users: int, epsilon: float) -> float:
    """Return ``H(T|Y)`` for randomised response on two values under Jeffreys' prior, report tally by report tally."""
    chance, held = np.exp(epsilon) / (np.exp(epsilon) + 1), np.arange(users + 1)
    prior = np.exp(gammaln(held + 0.5) + gammaln(users - held + 0.5) - gammaln(users + 1)) / np.pi
    total = 0.0
    for seen in range(users + 1):
        joint = comb(users, seen) * np.convolve(_binomial(seen, chance), _binomial(users - seen, 1 - chance)) * prior
        given = joint / joint.sum()
        total -= float(joint.sum() * (given[given > 0] @ np.log(given[given > 0])))
    return total


def _binomial(trials: int, chance: float) -> Array:
    return np.array([comb(trials, j) * chance**j * (1 - chance) ** (trials - j) for j in range(trials + 1)])


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


def completed_trace(information: Array) -> float:
    """Return the trace over all values of the inverse of an information matrix given on all but the last."""
    inverse = np.linalg.inv(information)
    return float(np.trace(inverse) + inverse.sum())


def random_channels(domain_size: int, epsilon: float, number: int, rng: np.random.Generator) -> list[Array]:
    """Return epsilon-LDP channels: a few random patterns with all cyclic shifts, which equal the columns' sums."""
    channels = []
    for turn in range(number):
        patterns = rng.random((1 + turn % 3, domain_size))
        patterns = np.where(rng.random(patterns.shape) < turn % 2, patterns.round(), patterns)
        rows = np.concatenate([np.roll(np.exp(epsilon * patterns), shift, axis=1) for shift in range(domain_size)])
        channels.append(rows / rows.sum(axis=0))
    return channels
