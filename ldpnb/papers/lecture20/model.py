"""Check the claims of the lecture on the local model: one function for each claim."""

import numpy as np

from ldpnb import claims
from ldpnb.accuracy import histograms, means
from ldpnb.arithmetic import Symbol
from ldpnb.claims import Evidence, Numbers
from ldpnb.deciders import budget, derivative, identity, oo, positive, symbols
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.papers.lecture20 import proofs, written_out
from ldpnb.papers.lecture20.formulas import purify
from ldpnb.papers.lecture20.proofs import CURATOR, NOISE, m, n, u
from ldpnb.privacy import hockey_stick
from ldpnb.rng import stream

USERS = 10_000
CHANNELS = 100


def local_model_accuracy(e: Evidence) -> Numbers:
    """Compare variances with those of a curator who adds Laplace noise.

    They are n/2 times as large or more with one bit, n times with noise, and n over `enough_users`
    times for bits and for counts.
    """
    f, d = symbols("f d")
    epsilon = 2 * u
    enough = proofs.enough_users(epsilon)

    of_curator = means.worst_variance(CentralLaplace(epsilon, m), n)
    of_bit = means.worst_variance(OneBit(epsilon, m), n)
    e.proven(identity(of_bit / of_curator, n / 2 * proofs.unit_variance()))
    e.proven(identity(means.worst_variance(NOISE, n) / means.worst_variance(CURATOR, n), n))
    e.proven(identity(means.warner_variance(epsilon, n) * m**2 / of_curator, n / enough))

    # A count varies least if everybody holds the value.
    signs = SignRandomiser(epsilon, d)
    held_by_all = histograms.pure_variance(n, users=n, mechanism=signs)
    held_by_some = histograms.pure_variance(f, users=n, mechanism=signs)
    of_curator = Symbol(8) / (epsilon * epsilon)
    e.proven(identity(held_by_all / of_curator, n / enough))
    e.proven(identity(held_by_some - held_by_all, n - f))

    # n/2 and n are above the threshold `clear` from three users on, as the number `enough` is
    # at least 2 and grows with epsilon.
    clear = claims.WORDS["equal"] ** 2
    e.decides(proofs.bit_order())
    e.proven(proofs.positive_throughout(derivative(enough, u)))
    e.proven(proofs.positive_throughout(enough - 2))
    e.sure(2 * clear < 3)

    variances = [
        means.worst_variance(OneBit(1.0), USERS),
        means.worst_variance(LocalLaplace(1.0), USERS),
        means.warner_variance(1.0, USERS),
    ]
    curator = np.sqrt(means.worst_variance(CentralLaplace(1.0), USERS))
    errors = np.sqrt(variances)
    e.needs(claims.better(curator, errors))
    bit, noise, bits = errors / curator
    return {
        "clear": clear,
        "enough": clear * proofs.enough_users(1.0),
        "bit": bit,
        "noise": noise,
        "bits": bits,
    }


def local_model_pure_or_approximate(e: Evidence) -> Numbers:
    moved, losses = _purified_channels(e)
    e.needs(max(moved) <= 1 + 1e-9)
    e.needs(max(losses) <= 2 + 1e-9)

    # The ends of the band are e^(2 epsilon) apart. What is filled up is what rho exceeds
    # e^epsilon P by, over e^epsilon.
    t, excess, rho, law = symbols("t excess rho law")
    e.decides(identity(rho * t / (rho / t), t * t))
    e.decides(identity(rho / t - law, (rho - t * law) / t))

    # The way back is shorter than the band, and restores the mass.
    box = {t: (1, oo), excess: (0, 1)}
    for mass, end in ((1 - excess, t), (1 + excess, 1 / t)):
        share = purify.refill(1 - mass, end)
        e.decides(identity(mass + share * (end - mass), 1))
        e.decides(positive(share, box))
        e.decides(positive(1 - share, box))

    _decide_the_least_variance(e)

    def variance_ratio(epsilon: float, delta: float) -> float:
        approximate = means.approximate_bit_variance(epsilon, delta, 1)
        return float(approximate / means.warner_variance(epsilon, 1))

    return {
        "tried": CHANNELS,
        "nearest": max(moved),
        "largest": max(losses),
        "tiny": 1 - variance_ratio(1.0, 1e-6),
        "small": variance_ratio(1.0, 1e-2),
        "large": variance_ratio(0.01, 1e-3),
    }


def _purified_channels(e: Evidence) -> tuple[list[float], list[float]]:
    """Make random channels pure.

    Returns
    -------
    moved : list of float
        How far each was moved, in units of its delta.
    losses : list of float
        Its privacy loss afterwards, in units of epsilon.
    """
    rng = stream("channels", "purified", seed=1)
    moved = []
    losses = []
    for epsilon in np.linspace(0.1, 1.5, CHANNELS):
        laws = rng.dirichlet(np.full(5, 0.5), 3).T
        pure = purify.purified(laws, epsilon)

        # All data sets of one user are neighbours.
        delta = hockey_stick.channel_delta(laws, epsilon)
        gaps = written_out.largest_gaps(laws, np.exp(epsilon))
        e.same(delta, gaps.max())
        e.same(pure.sum(axis=0), np.ones(3))

        # They move into the band about the first law.
        distances = 0.5 * np.abs(pure - laws).sum(axis=0)
        e.same(distances, np.maximum(gaps[:, 0], gaps[0] / np.exp(epsilon)))

        moved.append(distances.max() / delta)
        losses.append(np.log(pure.max(axis=1) / pure.min(axis=1)).max() / epsilon)
    return moved, losses


def _decide_the_least_variance(e: Evidence) -> None:
    """Decide the least variance of a mean of bits, of which a share `delta` is shown as it is.

    A bit that is shown has the weight ``a``, one kept as by Warner the weight ``b``. The mean is
    1/2 if the weights are unbiased, and the Cauchy-Schwarz inequality bounds the second moment.
    """
    t, shown, a, b = symbols("t delta a b")
    slope = OneBit(budget(t)).slope
    second = shown * a * a + (1 - shown) * b * b
    mean = shown * a + (1 - shown) * slope * b
    information = shown + (1 - shown) * (slope * slope)
    apart = slope * a - b
    e.proven(identity(second * information - mean * mean, shown * (1 - shown) * apart * apart))

    least = (1 / information - 1) / (4 * n)
    e.proven(identity(means.approximate_bit_variance(budget(t), shown, n), least))
