"""Second routes to formulas under the claims of companion, Reports."""

from dataclasses import replace

import numpy as np
from compared import Pairs, compared

from ldpnb.accuracy import histograms
from ldpnb.mechanisms.best_gap import BestGapChannel
from ldpnb.mechanisms.contrasts import SignedBit
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.hashing import LocalHashing
from ldpnb.papers.companion.reports import HASHING, blanket_bound, small
from ldpnb.privacy import blanket, shuffling


@compared
def test_the_best_number_of_cells_is_found_by_trying_all() -> Pairs:
    for epsilon in (0.3, 1.0, 2.5):
        cells = np.arange(2, 40)
        p, q = np.exp(epsilon) / (np.exp(epsilon) + cells - 1), 1 / cells
        least = cells[np.argmin(q * (1 - q) / (p - q) ** 2)]
        yield LocalHashing.optimised(epsilon, 100).cells, least


@compared
def test_supported_values_have_the_law_of_unary_encoding() -> Pairs:
    channel, functions = HASHING.channel(), HASHING.functions()
    supported = np.repeat(functions, 4, axis=0) == np.tile(np.arange(4), len(functions))[:, None]
    yield (
        supported.T @ channel,
        HASHING.q + HASHING.truthful_rate * np.eye(3),
    )  # the chances to support each value
    law = np.zeros((8, 3))
    np.add.at(law, supported @ (1 << np.arange(3)), channel)
    yield law, UnaryEncoding(HASHING.p, HASHING.q, 3).channel()


@compared
def test_the_variance_at_a_rare_value_is_that_of_one_bit() -> Pairs:
    other = 1 / (np.e + 1)
    oue = UnaryEncoding(0.5, other, 100)
    cases = ((LocalHashing.optimised(1.0, 100), np.e / (np.e + 3), 1 / 4), (oue, 0.5, other))
    for mechanism, p, q in cases:
        estimates, chances = (
            (np.array([0, 1]) - q) / (p - q),
            np.array([1 - q, q]),
        )  # of a bit of another's
        yield histograms.pure_variance(0, users=1, mechanism=mechanism), chances @ estimates**2


@compared
def test_the_blanket_bounds_shuffled_reports_as_their_own_account_does() -> Pairs:
    for mechanism in small():
        law = mechanism.channel()
        yield law.sum(axis=0), np.ones(law.shape[1])
        few = blanket.Blanket.of(mechanism)
        yield (
            few.delta_upper(0.4, users=60),
            blanket.Blanket.of_channel(law).delta_upper(0.4, users=60),
        )
    account = shuffling.ShuffledReports(5000, 0.5, KaryRandomisedResponse(3.0, 20))
    general = blanket.Blanket.of(account.mechanism).sampled(0.5)
    yield general.epsilon_upper(1e-6, users=5000), account.epsilon_upper(1e-6), 2e-3
    yield (
        general.epsilon_upper(1e-6, users=50_000),
        replace(account, users=50_000).epsilon_upper(1e-6),
        2e-3,
    )
    for users in (2, 4, 6):
        yield replace(account, users=users).delta_upper(0.7), blanket_bound(general, 0.7, users)


@compared
def test_the_best_channel_for_a_gap_is_a_channel_of_its_budget() -> Pairs:
    for epsilon, share in ((0.1, 0.5), (1.0, 0.25), (3.0, 0.01)):
        rows = BestGapChannel(epsilon, share).channel()
        yield rows.sum(axis=0), np.ones(rows.shape[1])
        used = rows[rows.max(axis=1) > 0]
        yield np.log(used.max(axis=1) / used.min(axis=1)).max(), epsilon


@compared
def test_the_gain_of_one_sign_is_the_mean_of_its_reports() -> Pairs:
    for epsilon, groups in ((0.1, (1, 1)), (1.0, (10, 30)), (5.0, (1000, 10))):
        made = SignedBit(epsilon, groups)
        chances = made.channel((1.0,))
        smaller = int(np.argmin(groups))
        yield made.gain, abs(chances[1, smaller] - chances[0, smaller])
