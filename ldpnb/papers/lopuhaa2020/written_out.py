"""Definitions of Lopuhaä-Zwakenberg and others written out, and few users enumerated.

Nothing here uses the package's estimators, probabilities or bounds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import binom

from ldpnb.arithmetic import Floats, Ints


def krr_channel(epsilon: float, domain_size: int) -> Floats:
    """Return equation (103): ``e^epsilon`` on the diagonal and 1 elsewhere, scaled to sum 1."""
    weights = np.exp(epsilon * np.eye(domain_size))
    return np.asarray(weights / (np.exp(epsilon) + domain_size - 1))


def bits(domain_size: int) -> Ints:
    """Return all ``2^a`` outputs of unary encoding, in the order of their binary digits."""
    return (np.arange(2**domain_size)[:, None] >> np.arange(domain_size)) & 1


def unary_channel(p: float, q: float, domain_size: int) -> Floats:
    """Return the ``(2^a, a)`` channel of unary encoding."""
    chances = np.where(np.eye(domain_size) == 1, p, q)[:, None]
    return np.asarray(np.where(bits(domain_size) == 1, chances, 1 - chances).prod(axis=2).T)


def oue_channel(epsilon: float, domain_size: int) -> Floats:
    """Return the channel of optimised unary encoding."""
    return unary_channel(0.5, 1 / (np.exp(epsilon) + 1), domain_size)


def set_channel(epsilon: float, domain_size: int, sets: Iterable[Sequence[int]]) -> Floats:
    """Return the channel that reports one of some sets of values.

    A set that holds the user's value is ``e^epsilon`` times as likely as one that does not.
    """
    rows = []
    for chosen in sets:
        holds = np.isin(np.arange(domain_size), list(chosen))
        rows.append(np.exp(epsilon * holds))
    return np.asarray(np.array(rows) / np.sum(rows, axis=0))


def subset_channel(epsilon: float, domain_size: int, subset_size: int) -> Floats:
    """Return the channel of subset selection."""
    return set_channel(epsilon, domain_size, combinations(range(domain_size), subset_size))


def loss(channel: Floats) -> float:
    """Return the largest logarithm of the ratio of two entries of a row."""
    return max(
        float(np.log(one / other)) for row in channel for one, other in product(row, repeat=2)
    )


def steepest(channel: Floats, tallies: NDArray[np.integer], estimate: Floats) -> float:
    """Return the largest partial derivative of the log-likelihood.

    At a maximum, and only there, it is the number of users.
    """
    fitted = channel @ estimate
    return float(((tallies / np.where(tallies > 0, fitted, 1)) @ channel).max())


@dataclass(frozen=True, slots=True)
class Sequences:
    """Every sequence of reports of a few users: its tallies, its probability, and what it tells.

    For the distribution and for the frequencies, it has the posterior means, of shape
    (2, sequences, values), and the mean squared lengths, of shape (2, sequences).
    """

    tallies: Ints
    chances: Floats
    means: Floats
    squares: Floats

    def risks(self, estimates: Floats | None = None) -> Floats:
        """Return both mean squared errors of the estimates, by default of the posterior means."""
        given = self.means if estimates is None else estimates
        errors = self.squares - 2 * (self.means * given).sum(axis=2) + (given**2).sum(axis=-1)
        return np.asarray(errors @ self.chances)


def all_sequences(channel: Floats, users: int, prior: Floats) -> Sequences:
    """Enumerate what a few users hold and report, one by one, from prior and channel."""
    outputs, values = channel.shape
    columns = np.array(list(product(range(values), repeat=users)))
    seen = np.array(list(product(range(outputs), repeat=users)))
    counts = (columns[:, :, None] == np.arange(values)).sum(axis=1)
    tallies = (seen[:, :, None] == np.arange(outputs)).sum(axis=1)

    # Pólya's urn: how many earlier users hold the same value.
    same = columns[:, :, None] == columns[:, None, :]
    before = np.tril(same, -1).sum(axis=2)
    drawn = ((prior[columns] + before) / (prior.sum() + np.arange(users))).prod(axis=1)

    joint = drawn * channel[seen[:, None, :], columns[None, :, :]].prod(axis=2)
    chances = joint.sum(axis=1)
    given = joint / chances[:, None]

    shares = counts / users
    total = prior.sum() + users
    means = np.array([(prior + counts) / total, shares])
    of_distribution = ((prior + counts) * (prior + counts + 1)).sum(axis=1) / (total * (total + 1))
    of_frequencies = (shares**2).sum(axis=1)
    squares = np.array([of_distribution, of_frequencies])
    return Sequences(tallies, chances, given @ means, squares @ given.T)


def mixture(channel: Floats, tallies: Ints, prior: Floats) -> tuple[Floats, int]:
    """Return the posterior mean by Proposition A.3 as stated, and the number of its summands.

    A summand is a table of how many of the users who gave each output hold each value.
    """
    values = channel.shape[1]
    splits = []
    for count in tallies:
        tables = product(range(count + 1), repeat=values)
        splits.append([split for split in tables if sum(split) == count])

    weights = []
    parameters = []
    for table in product(*splits):
        rows = np.array(table)
        log_ways = gammaln(tallies + 1).sum() - gammaln(rows + 1).sum()
        log_chance = (rows * np.log(channel)).sum()
        posterior = prior + rows.sum(axis=0)
        parameters.append(posterior)
        weights.append(np.exp(log_ways + log_chance + gammaln(posterior).sum()))

    mean: Floats = np.array(weights) @ parameters / (np.sum(weights) * parameters[0].sum())
    return mean, len(weights)


def holders_laws(users: int, epsilon: float) -> Floats:
    """Return the law of the number of reports of the first of two values.

    There is a row for each number of users who hold it.
    """
    true_chance = krr_channel(epsilon, 2)[0, 0]
    seen = np.arange(users + 1)
    laws = []
    for holders in seen:
        others = users - holders
        from_holders = binom.pmf(seen[: holders + 1], holders, true_chance)
        from_others = binom.pmf(seen[: others + 1], others, 1 - true_chance)
        laws.append(np.convolve(from_holders, from_others))
    return np.array(laws)


def information_sum(channel: Floats, point: Floats) -> tuple[Floats, Floats]:
    """Return ``J_p`` and ``C_p`` output by output, as (36) to (38) define them."""
    size = point.size - 1
    information = np.zeros((size, size))
    covariance = np.zeros((size, size))
    for row in channel:
        chance = float(row @ point)
        difference = row[:-1] - row[-1]
        given = (row * point / chance)[:-1]
        information += np.outer(difference, difference) / chance
        covariance += chance * (np.diag(given) - np.outer(given, given))
    return information, covariance


def limiting_error(channel: Floats, point: Floats) -> float:
    """Return the trace of ``J_p^-1``, completed to all values."""
    inverse = np.linalg.inv(information_sum(channel, point)[0])
    return float(np.trace(inverse) + inverse.sum())


def random_channels(
    domain_size: int, epsilon: float, number: int, rng: np.random.Generator
) -> list[Floats]:
    """Return epsilon-LDP channels of a few random patterns with all their cyclic shifts.

    The shifts make the sums of the columns equal.
    """
    channels = []
    for turn in range(number):
        rows = rng.random((1 + turn % 3, domain_size))
        rows = np.where(rng.random(rows.shape) < turn % 2, rows.round(), rows)
        weights = np.exp(epsilon * rows)
        shifted = [np.roll(weights, shift, axis=1) for shift in range(domain_size)]
        turned = np.concatenate(shifted)
        channels.append(turned / turned.sum(axis=0))
    return channels


JEFFREYS = np.full(3, 0.5)
UNEVEN = np.array([0.5, 1.0, 2.0])
CHANNELS = (krr_channel(1.0, 3), oue_channel(2.0, 3), subset_channel(0.3, 3, 2))


def drawn_tallies(domain_size: int) -> Ints:
    """Return forty tallies of 60 reports each, of uneven values."""
    rng = np.random.default_rng(2022)
    return np.asarray(rng.multinomial(60, rng.dirichlet(np.full(domain_size, 0.7), size=40)))
