"""Lecture20 on the model: what it is, what it costs beside a curator, and whether a small delta helps."""

from functools import partial

import numpy as np

from ldpnb import claims
from ldpnb.accuracy import histograms, means
from ldpnb.claims import Evidence, agree
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.papers.lecture20 import proofs, routes
from ldpnb.privacy import channel, hockey_stick, purify
from ldpnb.rng import stream

claim = partial(claims.claim, kind="proof", reach="all parameters")


@claim(
    "Local model, accuracy",
    means.worst_variance,
    means.warner_variance,
    histograms.sign_variance,
    CentralLaplace.log_density,
    LocalLaplace.log_density,
    SignRandomiser.bias,
    assumption="the lecture's mechanisms at one budget and their worst data; with fewer users Laplace noise is no "
    "better than randomised response, and a curator may use that instead",
    argument="a curator can run every local protocol, so that the best central error is never larger",
)
def worse_accuracy(e: Evidence) -> str:
    """The local model has worse accuracy than the central one"""
    users, clear = 10_000, claims.WORDS["equal"] ** 2
    e.decides(proofs.curator_is_better())
    e.sure(2 * clear < 3)
    e.over = (
        f"every epsilon and m > 0: n >= 3 for numbers, at their worst; n above {clear:.5g} * 8 "
        f"sinh^2(epsilon/2)/epsilon^2 for bits and counts ({clear * proofs.enough_users(1.0):.4g} at epsilon = 1), "
        "whatever they are"
    )
    curator = np.sqrt(routes.noise_moment(CentralLaplace(1.0), 2)) / users
    errors = [np.sqrt(means.worst_variance(mechanism, users)) for mechanism in (OneBit(1.0), LocalLaplace(1.0))]
    pair, local = routes.largest_pair_variance(1.0, 1.0), routes.noise_moment(LocalLaplace(1.0), 2)
    e.same(errors, np.sqrt([2 * pair / users, local / users]))
    bits, counts = means.warner_variance(1.0, users), histograms.sign_variance(users, users=users, bias=np.tanh(0.5))
    outcomes, chances = routes.all_bits(routes.printed_rates([0, 1], 1.0, 1.0))
    warner = routes.moments(routes.printed_means(outcomes, 1.0, 1.0), chances)[1]
    vectors, law = routes.printed_signs(np.tanh(0.5), 2)
    held = routes.moments(vectors[:, 0] / np.tanh(0.5), law[:, 0])[1]
    e.same([bits, counts], [2 * warner / users, users * held])
    e.same(np.sqrt(means.worst_variance(CentralLaplace(1.0), users)), curator)
    e.needs(claims.better(curator, [*errors, np.sqrt(bits)]))
    shown = np.array([*errors, np.sqrt(bits)]) / curator
    return (
        "standard deviations are more than sqrt(n/2) times the curator's for one bit, sqrt(n) times for local noise, "
        f"sqrt(n) epsilon/(2 sqrt(2) sinh(epsilon/2)) times for bits: {shown[0]:.4g}, {shown[1]:.4g} and "
        f"{shown[2]:.4g} at n = 10,000 and epsilon = 1"
    )


@claim(
    "Local model, definition",
    channel.privacy_loss,
    hockey_stick.channel_delta,
    over="every epsilon, delta, domain and randomiser",
    assumption="neighbours replace a user's value; if they delete a user, a central mechanism on at most one user is "
    "(2 epsilon, (1 + e^epsilon) delta)-LDP",
    argument="two data sets of one user always differ in that user only, so all are neighbours, and both definitions "
    "bound the same events",
)
def local_is_central_on_one(e: Evidence) -> str:
    """An (epsilon, delta)-LDP randomiser is an (epsilon, delta)-DP mechanism in the central sense, on data sets of size
    one
    """
    rng, tried = stream("channels", "definition", seed=1), 20
    for _ in range(tried):
        law = rng.dirichlet(np.ones(4), 3).T
        e.needs(agree(channel.privacy_loss(law).epsilon, routes.central_loss(law)))
        e.needs(agree(hockey_stick.channel_delta(law, 0.2), routes.central_delta(law, np.exp(0.2))))
        deletion = max(routes.central_delta(law[:, [0, user]], np.exp(0.2)) for user in (1, 2))  # 0: the empty data set
        e.sure(hockey_stick.channel_delta(law[:, 1:], 0.4) <= (1 + np.exp(0.2)) * deletion + 1e-12)
    e.proven(proofs.with_deletion())
    return (
        f"both losses, and both deltas at epsilon = 0.2, are equal in {tried} random mechanisms of 3 values and 4 "
        "outputs, over all neighbouring data sets and all 16 events"
    )


@claim(
    "Local model, pure or approximate",
    purify.purified,
    purify.refill,
    means.approximate_bit_variance,
    means.warner_variance,
    OneBit.slope,
    hockey_stick.channel_delta,
    over="epsilon > 0, delta of at most epsilon^2/4 with n delta far below 1 for n users; every domain, and every "
    "protocol of one report each without interaction",
    assumption="'about' allows a factor of 2 in epsilon, and a small delta is one of that size: a larger one does help "
    "bits; interactive protocols are not decided here",
    argument="laws are integrated over outputs; n reports are within n delta by the triangle inequality; every "
    "(epsilon, delta) randomiser of a bit comes from the one here (Kairouz, Oh and Viswanath), and weights that "
    "differ between the two signs do no better, by convexity",
)
def pure_or_approximate(e: Evidence) -> str:
    """The local model is about (epsilon, 0)-LDP: allowing a small delta does not help much (posed as a question)"""
    rng, tried, nearest, largest = stream("channels", "purified", seed=1), 100, 0.0, 0.0
    for epsilon in np.linspace(0.1, 1.5, tried):
        law = rng.dirichlet(np.full(5, 0.5), 3).T
        pure, delta = purify.purified(law, epsilon), hockey_stick.channel_delta(law, epsilon)
        e.same(delta, routes.central_delta(law, np.exp(epsilon)))
        e.same(pure.sum(axis=0), np.ones(3))
        distance = 0.5 * np.abs(pure - law).sum(axis=0)
        e.same(distance, routes.clipped_mass(law, np.exp(epsilon)))
        nearest = max(nearest, distance.max() / delta)
        largest = max(largest, np.log(pure.max(axis=1) / pure.min(axis=1)).max() / epsilon)
    e.needs(nearest <= 1 + 1e-9 and largest <= 2 + 1e-9)
    e.decides(proofs.purification())
    e.proven(proofs.best_weights())
    ratios = []
    for epsilon, delta in ((1.0, 1e-6), (1.0, 1e-2), (0.01, 1e-3)):
        law = routes.most_informative(epsilon, delta)
        exact, pure = means.approximate_bit_variance(epsilon, delta, 1), means.warner_variance(epsilon, 1)
        e.same(np.maximum(law - np.exp(epsilon) * law[:, ::-1], 0).sum(axis=0), (delta, delta))
        e.same(routes.best_unbiased_variances(law), (exact, exact))
        e.same(pure, np.exp(epsilon) / np.expm1(epsilon) ** 2)
        ratios.append(exact / pure)
    return (
        "settled for protocols without interaction by Bun, Nelson and Stemmer (arXiv 1711.04740); computed here: "
        "clipped to a band around one law, every (epsilon, delta)-LDP randomiser becomes a 2 epsilon-LDP one within "
        f"total variation delta (in {tried} random channels at most {nearest:.3f} delta and {largest:.3f} epsilon); "
        "and of averages of per-user weights of bits the least variance is (1 - delta)/(1 + delta/sinh^2(epsilon/2)) "
        f"times the pure one: 1 - {1 - ratios[0]:.3g} at (1, 1e-6), {ratios[1]:.4g} at (1, 0.01), {ratios[2]:.3g} at "
        "(0.01, 0.001)"
    )
