"""What decides lecture20 on the model: a check for each claim of ``model.toml``."""

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

USERS, CHANNELS = 10_000, 100


def local_model_accuracy(e: Evidence) -> Numbers:
    """Compare variances: n/2 times a curator's or more with one bit, n times with noise, n over `enough` for counts."""
    clear = claims.WORDS["equal"] ** 2
    (f, d), epsilon = symbols("f d"), 2 * u
    curator, count = (
        means.worst_variance(CentralLaplace(epsilon, m), n),
        Symbol(8) / (epsilon * epsilon),
    )
    everybody, some = (
        histograms.pure_variance(holders, users=n, mechanism=SignRandomiser(epsilon, d))
        for holders in (n, f)
    )
    enough = proofs.enough_users(epsilon)
    for variance, least, ratio in (
        (means.worst_variance(OneBit(epsilon, m), n), curator, n / 2 * proofs.unit_variance()),
        (means.worst_variance(NOISE, n), means.worst_variance(CURATOR, n), n),
        (means.warner_variance(epsilon, n) * m**2, curator, n / enough),
        (everybody, count, n / enough),
        (some - everybody, n - f, 1),
    ):
        e.proven(identity(variance / least, ratio))
    e.decides(proofs.bit_order())
    e.proven(
        proofs.positive_throughout(derivative(enough, u)) and proofs.positive_throughout(enough - 2)
    )
    e.sure(2 * clear < 3)
    variances = [
        means.worst_variance(mechanism, USERS) for mechanism in (OneBit(1.0), LocalLaplace(1.0))
    ]
    errors = np.sqrt([*variances, means.warner_variance(1.0, USERS)])
    curator = np.sqrt(means.worst_variance(CentralLaplace(1.0), USERS))
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
    moved, losses, rng = [], [], stream("channels", "purified", seed=1)
    for epsilon in np.linspace(0.1, 1.5, CHANNELS):
        laws = rng.dirichlet(np.full(5, 0.5), 3).T
        pure, delta = purify.purified(laws, epsilon), hockey_stick.channel_delta(laws, epsilon)
        distances, gaps = (
            0.5 * np.abs(pure - laws).sum(axis=0),
            written_out.largest_gaps(laws, np.exp(epsilon)),
        )
        e.same(delta, gaps.max())  # all data sets of one user are neighbours
        e.same(pure.sum(axis=0), np.ones(3))
        e.same(
            distances, np.maximum(gaps[:, 0], gaps[0] / np.exp(epsilon))
        )  # into the band about the first law
        moved.append(distances.max() / delta)
        losses.append(np.log(pure.max(axis=1) / pure.min(axis=1)).max() / epsilon)
    e.needs(max(moved) <= 1 + 1e-9 and max(losses) <= 2 + 1e-9)
    t, shown, a, b, excess, rho, law = symbols("t delta a b excess rho law")
    # the band's ends are e^(2 epsilon) apart, and what is filled up is what rho exceeds e^epsilon P by, over e^epsilon
    e.decides(identity(rho * t / (rho / t), t * t) and identity(rho / t - law, (rho - t * law) / t))
    box = {t: (1, oo), excess: (0, 1)}
    # the way back is shorter than the band, and restores the mass
    for mass, end in ((1 - excess, t), (1 + excess, 1 / t)):
        share = purify.refill(1 - mass, end)
        e.decides(
            identity(mass + share * (end - mass), 1)
            and positive(share, box)
            and positive(1 - share, box)
        )
    # Cauchy-Schwarz for weights a (the bit is shown) and b (kept as by Warner); the mean is 1/2 if they are unbiased
    slope = OneBit(budget(t)).slope
    second, information = shown * a * a + (1 - shown) * b * b, shown + (1 - shown) * (slope * slope)
    mean, apart = shown * a + (1 - shown) * slope * b, slope * a - b
    e.proven(identity(second * information - mean * mean, shown * (1 - shown) * apart * apart))
    e.proven(
        identity(
            means.approximate_bit_variance(budget(t), shown, n), (1 / information - 1) / (4 * n)
        )
    )
    tiny, small, large = (
        means.approximate_bit_variance(epsilon, delta, 1) / means.warner_variance(epsilon, 1)
        for epsilon, delta in ((1.0, 1e-6), (1.0, 1e-2), (0.01, 1e-3))
    )
    numbers = {"tried": CHANNELS, "nearest": max(moved), "largest": max(losses)}
    return numbers | {"tiny": 1 - tiny, "small": small, "large": large}
