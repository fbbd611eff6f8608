"""What decides lecture20 on the model: second routes, and a check for each claim of ``model.toml``."""

import numpy as np

from ldpnb import claims
from ldpnb.accuracy import histograms, means
from ldpnb.claims import Evidence
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.papers.lecture20 import proofs, routes
from ldpnb.sections import Numbers, Pairs, second_route

USERS = 10_000


@second_route(means.worst_variance)
def _worst_variance() -> Pairs:
    for mechanism in (CentralLaplace(1.0), LocalLaplace(1.0)):
        users = USERS if isinstance(mechanism, LocalLaplace) else USERS**2
        yield means.worst_variance(mechanism, USERS), routes.noise_moment(mechanism, 2) / users
    yield means.worst_variance(OneBit(1.0), USERS), 2 * routes.largest_pair_variance(1.0, 1.0) / USERS


@second_route(means.warner_variance)
def _warner_variance() -> Pairs:
    outcomes, chances = routes.all_bits(routes.printed_rates([0, 1], 1.0, 1.0))
    variance = routes.moments(routes.printed_means(outcomes, 1.0, 1.0), chances)[1]
    yield means.warner_variance(1.0, USERS), 2 * variance / USERS


@second_route(histograms.sign_variance)
def _sign_variance() -> Pairs:
    vectors, law = routes.printed_signs(np.tanh(0.5), 2)
    variance = routes.moments(vectors[:, 0] / np.tanh(0.5), law[:, 0])[1]
    yield histograms.sign_variance(USERS, users=USERS, bias=np.tanh(0.5)), USERS * variance


def local_model_accuracy(e: Evidence) -> Numbers:
    clear = claims.WORDS["equal"] ** 2
    e.decides(proofs.curator_is_better())
    e.sure(2 * clear < 3)
    variances = [means.worst_variance(mechanism, USERS) for mechanism in (OneBit(1.0), LocalLaplace(1.0))]
    errors = np.sqrt([*variances, means.warner_variance(1.0, USERS)])
    curator = np.sqrt(means.worst_variance(CentralLaplace(1.0), USERS))
    e.needs(claims.better(curator, errors))
    bit, noise, bits = errors / curator
    return {"clear": clear, "enough": clear * proofs.enough_users(1.0), "bit": bit, "noise": noise, "bits": bits}
