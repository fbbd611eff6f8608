"""What decides lecture20 on counts: second routes, and a check for each claim of ``frequencies.toml``."""

from itertools import product

import numpy as np
import sympy

from ldpnb import claims
from ldpnb.accuracy import histograms
from ldpnb.arithmetic import Symbol
from ldpnb.claims import Evidence, Numbers
from ldpnb.deciders import budget, derivative, expression, identity, positive, replaced, symbols
from ldpnb.estimators import frequency
from ldpnb.mechanisms import means as mechanisms
from ldpnb.mechanisms import signs
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.papers.lecture20 import written_out
from ldpnb.papers.lecture20.proofs import (
    CURATOR,
    eps,
    m,
    n,
    noise_is_private,
    noise_moment,
    noise_tail,
)
from ldpnb.privacy import channel

PARAMETERS = (0.1, 0.25, 0.5, 0.9)


def frequency_central_laplace(e: Evidence) -> Numbers:
    g, k = symbols("g k")
    error = histograms.central_laplace_largest_error(eps, k, 1 - np.exp(-g), m)
    e.proven(noise_tail(CURATOR) and identity(k * np.log1p(-np.exp(-error * eps / m)), -g))
    e.proven(identity(noise_moment(CURATOR, 2), histograms.central_laplace_count_variance(eps, m)))
    e.decides(noise_is_private(CURATOR))
    moved, printed = (
        mechanisms.histogram_sensitivity("replacement"),
        claims.published("lecture20")["sensitivity"],
    )
    people = np.array(
        list(product(range(3), repeat=3))
    )  # three users, each with one of three values
    counts = np.stack([(people == value).sum(axis=1) for value in range(3)], axis=1)
    neighbours = (people[:, None] != people).sum(axis=2) == 1
    e.same(moved, np.abs(counts[:, None] - counts).sum(axis=2)[neighbours].max())
    e.needs(printed == moved)
    worst = histograms.central_laplace_largest_error(1.0, 1000, written_out.FAILURE)
    return {"moved": moved, "worst": worst, "union": printed * np.log(1000 / written_out.FAILURE)}


def frequency_sign_randomiser(e: Evidence) -> Numbers:
    """Two values' laws differ in two signs, each of which contributes ``p / (1 - p)``; the loss is convex in the bias.

    By convexity the loss is at most ``(b/c)`` times that at c, up to any c.
    """
    b, d, t = symbols("b d t")
    exact, inside = signs.exact_epsilon(b), {b: (0, 1)}
    printed, mended = SignRandomiser.as_printed(b, d), SignRandomiser(budget(t), d)
    e.decides(
        identity(printed.p, (1 + b) / 2) and identity(np.exp(exact), printed.p / printed.miss_rate)
    )
    e.proven(
        identity(printed.p + printed.miss_rate, 1) and identity(mended.p, t * mended.miss_rate)
    )
    e.proven(identity(signs.calibrated_bias(budget(t)), 2 * mended.p - 1))
    e.proven(identity(replaced(exact, b, 0)) and positive(derivative(exact - 2 * b, b), inside))
    e.proven(positive(derivative(exact, b, 2), inside))
    losses = [
        channel.privacy_loss(SignRandomiser.as_printed(c, 4).channel()).epsilon for c in PARAMETERS
    ]
    e.needs(claims.agree(losses, [signs.exact_epsilon(c) for c in PARAMETERS]))
    return {"losses": claims.joined(losses, ".5f"), "most": claims.rounded_up(2 * losses[2])}


def frequency_estimator(e: Evidence) -> Numbers:
    b, d, f = symbols("b d f")
    mechanism = SignRandomiser.as_printed(b, d)
    tally = f * mechanism.p + (n - f) * mechanism.q
    variance = (f * (1 - b * b) + (n - f)) / (
        b * b
    )  # a holder's sign has expectation b, another's 0, squares are 1
    e.decides(identity(n * frequency.unbiased(tally, n, mechanism), f))
    e.proven(identity(histograms.pure_variance(f, users=n, mechanism=mechanism), variance))
    half = SignRandomiser.as_printed(0.5, 2)
    return {"example": histograms.pure_variance(5000, users=20_000, mechanism=half)}


def frequency_communication(e: Evidence) -> Numbers:
    b, d, t, tally = symbols("b d t tally")
    mechanism, printed = SignRandomiser(budget(t), d), SignRandomiser.as_printed(b, d)
    nats = histograms.unary_report_bits(mechanism.p, Symbol(expression(mechanism.q)), d) * np.log(2)
    own = -mechanism.p * np.log(mechanism.p) - (1 - mechanism.p) * np.log(1 - mechanism.p)
    e.decides(identity(nats, own + (d - 1) * sympy.log(2)))
    moved = frequency.unbiased(tally + 1, n, printed) - frequency.unbiased(tally, n, printed)
    e.decides(identity(n * moved, 2 / b))
    e.same(written_out.public_signs(0.1, 3), written_out.printed_signs(np.tanh(0.05), 3)[1])
    shown, half = SignRandomiser(0.1, 8), SignRandomiser.as_printed(0.5, 3)
    flipped = 2 * (frequency.unbiased(2, 2, half) - frequency.unbiased(1, 2, half))
    return {"bits": histograms.unary_report_bits(shown.p, shown.q, 8), "moved": flipped}
