"""Check the claims of the lecture on counts: one function for each claim."""

import numpy as np
import sympy

from ldpnb import claims
from ldpnb.accuracy import histograms
from ldpnb.arithmetic import Symbol
from ldpnb.claims import Evidence, Numbers
from ldpnb.deciders import budget, derivative, expression, identity, positive, replaced, symbols
from ldpnb.estimators import frequency
from ldpnb.mechanisms import signs
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.papers.lecture20 import written_out
from ldpnb.papers.lecture20.proofs import n
from ldpnb.privacy import channel

PARAMETERS = (0.1, 0.25, 0.5, 0.9)


def frequency_sign_randomiser(e: Evidence) -> Numbers:
    """Decide the loss of the sign vector.

    The laws of two values differ in two signs, each of which contributes ``p / (1 - p)``. The loss
    is convex in the bias, so that up to any bias c it is at most ``bias / c`` times the loss at c.
    """
    b, d, t = symbols("b d t")
    exact = signs.exact_epsilon(b)
    printed = SignRandomiser.as_printed(b, d)
    calibrated = SignRandomiser(budget(t), d)

    e.decides(identity(printed.p, (1 + b) / 2))
    e.decides(identity(np.exp(exact), printed.p / printed.miss_rate))
    e.proven(identity(printed.p + printed.miss_rate, 1))
    e.proven(identity(calibrated.p, t * calibrated.miss_rate))
    e.proven(identity(signs.calibrated_bias(budget(t)), 2 * calibrated.p - 1))

    # The loss is 0 without a bias, grows faster than 2 b, and is convex.
    biases = {b: (0, 1)}
    e.proven(identity(replaced(exact, b, 0)))
    e.proven(positive(derivative(exact - 2 * b, b), biases))
    e.proven(positive(derivative(exact, b, 2), biases))

    losses = []
    for bias in PARAMETERS:
        by_all_outputs = channel.privacy_loss(SignRandomiser.as_printed(bias, 4).channel())
        losses.append(by_all_outputs.epsilon)
    e.needs(claims.agree(losses, [signs.exact_epsilon(bias) for bias in PARAMETERS]))
    return {"losses": claims.joined(losses, ".5f"), "most": claims.rounded_up(2 * losses[2])}


def frequency_estimator(e: Evidence) -> Numbers:
    b, d, f = symbols("b d f")
    mechanism = SignRandomiser.as_printed(b, d)
    tally = f * mechanism.p + (n - f) * mechanism.q
    e.decides(identity(n * frequency.unbiased(tally, n, mechanism), f))

    # The sign of a holder has expectation b, that of anybody else 0; all squares are 1.
    variance = (f * (1 - b * b) + (n - f)) / (b * b)
    e.proven(identity(histograms.pure_variance(f, users=n, mechanism=mechanism), variance))

    half = SignRandomiser.as_printed(0.5, 2)
    return {"example": histograms.pure_variance(5000, users=20_000, mechanism=half)}


def frequency_communication(e: Evidence) -> Numbers:
    b, d, t, tally = symbols("b d t tally")

    mechanism = SignRandomiser(budget(t), d)
    bits = histograms.unary_report_bits(mechanism.p, Symbol(expression(mechanism.q)), d)
    own = -mechanism.p * np.log(mechanism.p) - (1 - mechanism.p) * np.log(1 - mechanism.p)
    e.decides(identity(bits * np.log(2), own + (d - 1) * sympy.log(2)))

    printed = SignRandomiser.as_printed(b, d)
    with_one_more = frequency.unbiased(tally + 1, n, printed)
    moved = with_one_more - frequency.unbiased(tally, n, printed)
    e.decides(identity(n * moved, 2 / b))

    law_of_signs = written_out.printed_signs(np.tanh(0.05), 3)[1]
    e.same(written_out.public_signs(0.1, 3), law_of_signs)

    shown = SignRandomiser(0.1, 8)
    half = SignRandomiser.as_printed(0.5, 3)
    two_plus = frequency.unbiased([2, 1, 1], 2, half)[0]
    one_plus = frequency.unbiased([1, 1, 1], 2, half)[0]
    flipped = 2 * (two_plus - one_plus)
    return {"bits": histograms.unary_report_bits(shown.p, shown.q, 8), "moved": flipped}
