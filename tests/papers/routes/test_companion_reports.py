"""Second routes to formulas under the companion's own results, Reports.

Laws of reports are compared with those written out for every report, best settings with all
others, and the bound for shuffled reports with one from another account of them.
"""

from dataclasses import replace

import numpy as np
from compared import Pairs, compared
from scipy.stats import laplace

from ldpnb.accuracy import histograms
from ldpnb.accuracy.gaps import GroupGap
from ldpnb.mechanisms.best_gap import BestGapChannel
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.hashing import LocalHashing
from ldpnb.papers.companion.reports import HASHING, blanket_bound, small
from ldpnb.privacy.blanket import Blanket
from ldpnb.privacy.shuffling import ShuffledReports

# Local hashing


@compared
def test_the_best_number_of_cells_is_found_by_trying_all() -> Pairs:
    cells = np.arange(2, 40)
    for epsilon in (0.3, 1.0, 2.5):
        p = np.exp(epsilon) / (np.exp(epsilon) + cells - 1)
        q = 1 / cells
        variances = q * (1 - q) / (p - q) ** 2
        yield LocalHashing.optimised(epsilon, 100).cells, cells[np.argmin(variances)]


@compared
def test_supported_values_have_the_law_of_unary_encoding() -> Pairs:
    for mechanism in (LocalHashing(0.5, 2, 2), HASHING, LocalHashing(2.0, 4, 5)):
        size = mechanism.domain_size
        channel = mechanism.channel()
        functions = mechanism.functions()
        cells = np.tile(np.arange(mechanism.cells), len(functions))
        supported = np.repeat(functions, mechanism.cells, axis=0) == cells[:, None]

        chances = supported.T @ channel
        yield chances, mechanism.q + mechanism.truthful_rate * np.eye(size)
        yield np.diag(chances), np.full(size, mechanism.p)
        yield 1 - np.diag(chances), np.full(size, mechanism.miss_rate)

        as_bits = supported @ (1 << np.arange(size))
        law = np.zeros((2**size, size))
        np.add.at(law, as_bits, channel)
        yield law, UnaryEncoding(mechanism.p, mechanism.q, size).channel()


@compared
def test_the_variance_at_a_rare_value_is_that_of_one_bit() -> Pairs:
    other = 1 / (np.e + 1)
    for mechanism, p, q in (
        (LocalHashing.optimised(1.0, 100), np.e / (np.e + 3), 1 / 4),
        (UnaryEncoding(0.5, other, 100), 0.5, other),
    ):
        chances = np.array([1 - q, q])  # of a bit of a user who holds another value
        estimates = (np.array([0, 1]) - q) / (p - q)
        variance = histograms.pure_variance(0, users=1, mechanism=mechanism)
        yield variance, chances @ estimates**2


# Shuffled reports


@compared
def test_the_blanket_of_a_mechanism_is_that_of_its_channel() -> Pairs:
    for mechanism in small():
        channel = mechanism.channel()
        yield channel.sum(axis=0), np.ones(channel.shape[1])

        of_mechanism = Blanket.of(mechanism).delta_upper(0.4, users=60)
        yield of_mechanism, Blanket.of_channel(channel).delta_upper(0.4, users=60)


@compared
def test_the_blanket_bounds_shuffled_reports_as_their_own_account_does() -> Pairs:
    reports = ShuffledReports(5000, 0.5, KaryRandomisedResponse(3.0, 20))
    blanket = Blanket.of(reports.mechanism).sampled(0.5)
    for users in (5000, 50_000):
        own = replace(reports, users=users).epsilon_upper(1e-6)
        yield blanket.epsilon_upper(1e-6, users=users), own, 2e-3


@compared
def test_few_shuffled_reports_have_the_delta_of_their_blanket() -> Pairs:
    reports = ShuffledReports(5000, 0.5, KaryRandomisedResponse(3.0, 20))
    blanket = Blanket.of(reports.mechanism).sampled(0.5)
    for users in (2, 4, 6):
        delta = replace(reports, users=users).delta_upper(0.7)
        yield delta, blanket_bound(blanket, 0.7, users)


# Gaps between two groups


@compared
def test_the_best_channel_for_a_gap_is_a_channel_of_its_budget() -> Pairs:
    for epsilon, share in ((0.1, 0.5), (1.0, 0.25), (3.0, 0.01)):
        rows = BestGapChannel(epsilon, share).channel()
        yield rows.sum(axis=0), np.ones(rows.shape[1])

        used = rows[rows.max(axis=1) > 0]
        ratios = used.max(axis=1) / used.min(axis=1)
        yield np.log(ratios.max()), epsilon


@compared
def test_the_gain_of_one_sign_is_the_mean_of_its_reports() -> Pairs:
    for epsilon, groups in ((0.1, (1, 1)), (1.0, (10, 30)), (5.0, (1000, 10))):
        mechanism = SignedBit(epsilon, groups)
        chances = mechanism.channel((1.0,))
        smaller = int(np.argmin(groups))
        yield mechanism.gain, abs(chances[1, smaller] - chances[0, smaller])


@compared
def test_the_variance_of_a_gap_from_one_number_adds_up_over_users() -> Pairs:
    value = 0.6  # which every user holds
    for epsilon, groups in ((0.5, (4, 4)), (2.0, (10, 30)), (1.0, (7, 3, 5))):
        smaller = min(groups[:2])

        mechanism = SignedBit(epsilon, groups)
        minus, plus = mechanism.channel((value,))
        variances = 1 - (plus - minus) ** 2  # of one sign, by group
        total = np.sum(variances * groups) / (np.tanh(epsilon / 2) * smaller) ** 2
        yield GroupGap(mechanism, groups).variance((value**2, value**2)), total

        noisy = SignedLaplace(epsilon, groups)
        of_noise = laplace(scale=2 / epsilon).var()
        total = of_noise * sum(groups) / smaller**2
        yield GroupGap(noisy, groups).variance((value**2, value**2)), total
