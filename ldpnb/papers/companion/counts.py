"""What decides how far estimated counts are off: second routes, and a check for each claim of ``counts.toml``.

``t = e^epsilon``, ``q`` a sampling rate, ``n`` users, ``k`` values.
"""

import math

import numpy as np
from scipy import stats

from ldpnb.accuracy import shrinkage
from ldpnb.accuracy.sampling import SampledCounts
from ldpnb.arithmetic import Symbol
from ldpnb.claims import Evidence
from ldpnb.deciders import budget, identity, oo, positive, symbols
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.sections import Numbers, Pairs, second_route

t, q, n, k, share = symbols("t q n k share")
COUNTS = {t: (1, oo), q: (0, 1), n: (0, oo), k: (1, oo)}
SMALL = SampledCounts(60, 0.5, KaryRandomisedResponse(1.0, 4))


@second_route(shrinkage.rare_risk, shrinkage.shrunk_count)
def _risks() -> Pairs:
    tally, mechanism = np.arange(SMALL.users + 1), SMALL.mechanism
    law = stats.binom.pmf(tally, SMALL.users, SMALL.rate / (math.e + 3))
    rescaled = (tally / SMALL.rate - SMALL.users * mechanism.q) / mechanism.truthful_rate
    for weight in (0.0, 0.2, 1 - SMALL.rate):
        errors = shrinkage.shrunk_count(rescaled, SMALL, weight)
        yield shrinkage.rare_risk(SMALL, weight), law @ np.square(errors)


def bias_or_variance(e: Evidence) -> Numbers:
    survey, none = SampledCounts(n, q, KaryRandomisedResponse(budget(t), k)), Symbol(0)
    rescaled, unsampled = survey.rare_variance_rescaled, n / (t - 1)
    biased = survey.bias_unadjusted(none) * survey.bias_unadjusted(none) + survey.variance_unadjusted(none)
    factor = n * (1 - q) * (1 - q) / ((t - 1) * (t - 1))
    e.proven(identity(biased - rescaled, factor * (n - shrinkage.unscaled_below(survey))) and positive(factor, COUNTS))
    e.proven(identity(shrinkage.rare_risk(survey, 1 - q), biased))
    e.proven(identity(shrinkage.rare_risk(survey, none), rescaled))
    best, total = shrinkage.best_share(survey), rescaled + unsampled * unsampled
    square = rescaled * unsampled * unsampled / total + total * (share - best) * (share - best)
    e.proven(identity(shrinkage.rare_risk(survey, share), square) and positive(total, COUNTS))
    beyond = (n - (t + k - 1 - q) / (1 - q)) * (1 - q) * n / ((t - 1) * (t - 1)) / total
    e.proven(identity(1 - q - best, beyond))
    fewer, at = SampledCounts(31, 0.5, SMALL.mechanism), shrinkage.best_share(SMALL)
    e.needs(shrinkage.rare_risk(fewer, 0.5) < fewer.rare_variance_rescaled)
    of_c, of_g, least = (shrinkage.rare_risk(SMALL, weight) for weight in (1 - SMALL.rate, 0.0, at))
    e.needs(least < of_g < of_c)
    roots = {"unscaled": math.sqrt(of_c), "rescaled": math.sqrt(of_g), "least": math.sqrt(least)}
    return roots | {"below": shrinkage.unscaled_below(SMALL), "share": at}
