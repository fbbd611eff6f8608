"""Mechanisms at the limits of their parameters and of memory."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from ldpnb.mechanisms import moves
from ldpnb.mechanisms.contrasts import SignedBit, SignedLaplace
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.groups import DiscretisedMeans, LaplaceMeans
from ldpnb.mechanisms.means import CentralLaplace, LocalLaplace, OneBit
from ldpnb.mechanisms.signs import SignRandomiser
from ldpnb.mechanisms.subsets import SubsetSelection
from ldpnb.privacy.channel import privacy_loss


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SignedLaplace(0.0, (1, 1)), "epsilon must be > 0 and finite, got epsilon=0.0"),
        (lambda: SignedBit(-1.0, (1, 1)), "epsilon must be > 0 and finite, got epsilon=-1.0"),
        (lambda: SignedLaplace(1.0, (3,)), "sizes"),
        (lambda: OneBit(1.0, 0.0), "upper must be > 0 and finite, got upper=0.0"),
        (lambda: OneBit(1.0, np.inf), "upper must be > 0 and finite, got upper=inf"),
        (lambda: LocalLaplace(1.0, -2.0), "upper must be > 0 and finite, got upper=-2.0"),
        (lambda: LocalLaplace(0.0, 2.0), "epsilon must be > 0 and finite, got epsilon=0.0"),
        (lambda: CentralLaplace(0.0, 2.0), "epsilon must be > 0 and finite, got epsilon=0.0"),
        (lambda: SubsetSelection.optimal(1.0, 1), "domain_size must be an integer >= 2, got domain_size=1"),
        (
            lambda: SignedBit(1.0, (3, 4)).randomize([0, -1], [0.1, 0.2], rng=np.random.default_rng(1)),
            r"groups must lie in 0 .. 1, got -1 .. 0",
        ),
        (
            lambda: SignedBit(1.0, (3, 4)).randomize([0, 2], [0.1, 0.2], rng=np.random.default_rng(1)),
            r"groups must lie in 0 .. 1, got 0 .. 2",
        ),
        (
            lambda: LaplaceMeans(1.0, 1.0, 2.0).randomize([0, -1], [0.1, 0.2], rng=np.random.default_rng(1)),
            r"groups must lie in 0 .. 1, got -1 .. 0",
        ),
        (
            lambda: SignedBit(1.0, (3, 4)).sample_sums([[3], [4]], [0.5], repetitions=0, rng=np.random.default_rng(1)),
            "repetitions must be an integer >= 1, got repetitions=0",
        ),
        (
            lambda: SignRandomiser(1.0, 2).randomize_with_public_signs(
                [0, 1], [[1, -1], [1, 2]], rng=np.random.default_rng(1)
            ),
            "public must be signs -1 and ",
        ),
        (
            lambda: SubsetSelection(1.0, 3, 1).randomize([0, 3], rng=np.random.default_rng(1)),
            r"values must lie in 0 .. 2, got 0 .. 3",
        ),
        (
            lambda: SubsetSelection(1.0, 4, 2).sample_tallies([1, 2, 3], rng=np.random.default_rng(1)),
            "counts must have one entry per value, 4, got 3",
        ),
        (lambda: SubsetSelection(1.0, 30, 10).outputs(), "subsets must be at most 5000"),
        (lambda: SubsetSelection(0.0, 4, 2), "epsilon must be > 0"),
        (lambda: SubsetSelection(1.0, 1, 1), "domain_size must be an integer >= 2"),
        (lambda: KaryRandomisedResponse(0.0, 3), "epsilon must be > 0 and finite, got epsilon=0.0"),
        (lambda: KaryRandomisedResponse(np.nan, 3), "epsilon must be > 0 and finite, got epsilon=nan"),
        (lambda: KaryRandomisedResponse(np.inf, 3), "epsilon must be > 0 and finite, got epsilon=inf"),
        (lambda: UnaryEncoding(0.3, 0.6, 3), "q must be < p, got p=0.3, q=0.6"),
        (lambda: UnaryEncoding.optimised(-1.0, 3), "epsilon must be > 0 and finite, got epsilon=-1.0"),
        (lambda: OneBit(0.0, 2.0), "epsilon must be > 0 and finite, got epsilon=0.0"),
        (lambda: UnaryEncoding(0.5, 0.0, 3), r"q must lie in \(0, 1\), got q=0.0"),
        (lambda: UnaryEncoding(1.0, 0.5, 3), r"p must lie in \(0, 1\), got p=1.0"),
        (lambda: UnaryEncoding(0.5, 0.2, 1), "domain_size must be an integer >= 2, got domain_size=1"),
        (lambda: UnaryEncoding(0.2, 0.2, 2), "q must be < p, got p=0.2, q=0.2"),
        (lambda: OneBit(1.0, 2.0).one_rate([1.0, 3.0]), r"values must lie in \[0, 2.0\], got values\[1\]=3.0"),
        (lambda: OneBit(1.0, 2.0).one_rate([-0.5, 1.0]), r"values must lie in \[0, 2.0\], got values\[0\]=-0.5"),
        (lambda: DiscretisedMeans(1.0, 0.0), "value_epsilon must be > 0"),
        (lambda: DiscretisedMeans(1.0, 1.0, 1), "groups must be an integer >= 2, got groups=1"),
        (lambda: LaplaceMeans(0.0, 1.0, 2.0), "group_epsilon must be > 0"),
        (lambda: LaplaceMeans(1.0, 1.0, 0.0), "k must be > 0"),
        (lambda: LaplaceMeans(1.0, 1.0, 2.0, 1), "groups must be an integer >= 2, got groups=1"),
        (lambda: SubsetSelection(1.0, 4, 0), "subset_size must be an integer >= 1, got subset_size=0"),
        (lambda: SubsetSelection(1.0, 4, 4), "subset_size must be < domain_size, got 4 of 4"),
        (lambda: SignRandomiser(0.0, 4), "epsilon must be > 0"),
        (lambda: SignRandomiser(1.0, 0), "domain_size must be an integer >= "),
        (lambda: KaryRandomisedResponse(1.0, 1), "domain_size must be an integer >= 2, got domain_size=1"),
    ],
)
def test_parameters_out_of_range_are_refused_by_name_rule_and_value(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_two_values_two_groups_and_one_member_are_enough() -> None:
    assert UnaryEncoding.symmetric(1.0, 2).channel().shape == (4, 2)
    assert SubsetSelection(1.0, 2, 1).channel() == pytest.approx(KaryRandomisedResponse(1.0, 2).channel(), rel=1e-12)
    assert LaplaceMeans(1.0, 1.0, 2.0, 2).law(0, 1.0).shape == (2, 3)
    assert OneBit(1.0, 2.0).one_rate([0.0, 2.0]).tolist() == [OneBit(1.0, 2.0).q, OneBit(1.0, 2.0).p]


def test_the_loss_is_reached_at_the_extreme_values() -> None:
    for mechanism in (DiscretisedMeans(0.4, 0.9), SignedBit(0.7, (5, 3, 2))):
        assert privacy_loss(mechanism.channel(moves.EXTREMES)).epsilon == pytest.approx(mechanism.epsilon, rel=1e-12)
        assert mechanism.channel() == pytest.approx(mechanism.channel([-1.0, 1.0]), rel=1e-15)


@pytest.mark.parametrize(("epsilon", "k"), [(0.1, 2 / 3), (0.9, 0.9), (1.9, 1.9), (2.5, 2.0)])
def test_the_executed_mechanism_keeps_k_between_two_thirds_and_two(epsilon: float, k: float) -> None:
    assert LaplaceMeans.executed(epsilon).k == k
    assert LaplaceMeans.published(epsilon).k == max(2 / 3, epsilon)


@pytest.mark.parametrize("k", [0.3, 0.7, 1.0, 2.0, 3.5, 8.0])
@pytest.mark.parametrize("epsilons", [(0.2, 1.0), (1.5, 0.3), (0.05, 6.0)])
def test_the_loss_of_clipped_reports_is_that_of_their_atoms_and_densities(
    k: float, epsilons: tuple[float, float]
) -> None:
    mechanism = LaplaceMeans(*epsilons, k)
    inside = np.linspace(-1, 1, 2001)

    def law(group: int, value: float) -> np.ndarray:
        rows = []
        for chance, location, scale in mechanism.law(group, value):
            density = chance / (2 * scale) * np.exp(-np.abs(inside - location) / scale)
            ends = chance / 2 * np.exp(-(1 + np.array([1, -1]) * location) / scale)
            rows.append(np.concatenate([ends, density]))
        return np.log(np.concatenate(rows))

    laws = [law(group, value) for group in (0, 1) for value in (-1.0, 0.0, 1.0)]
    largest = max(float((p - q).max()) for p in laws for q in laws)
    assert mechanism.clipped_epsilon == pytest.approx(largest, abs=2e-3 * epsilons[1] / min(k, 2))


def test_equal_reports_beyond_the_listed_sizes_are_counted() -> None:
    held = [2, 1, *[0] * 11]
    outputs, tallies = UnaryEncoding.symmetric(60.0, 13).sample_outputs(held, rng=np.random.default_rng(1))
    assert dict(zip(outputs.argmax(axis=1).tolist(), tallies.tolist(), strict=True)) == {0: 2, 1: 1}
    assert (outputs.sum(axis=1) == 1).all()


@pytest.mark.parametrize(
    ("mechanism", "users", "megabytes"),
    [(SubsetSelection(1.0, 16, 3), 2**18, 56), (UnaryEncoding.optimised(1.0, 16), 2**19, 56)],
)
def test_users_are_randomised_in_blocks_of_bounded_memory(
    mechanism: SubsetSelection | UnaryEncoding, users: int, megabytes: int
) -> None:
    values, rng = np.arange(users) % 16, np.random.default_rng(2)
    tracemalloc.start()
    bits = mechanism.randomize(values, rng=rng)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < megabytes * 2**20
    expected = mechanism.p / 16 + mechanism.q * 15 / 16
    assert np.abs(bits.mean(axis=0) - expected).max() < 5 * np.sqrt(expected / users)
    assert np.abs(bits[-8:].sum()) > 0


def test_a_thousand_users_are_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, plain = [], np.argpartition
    monkeypatch.setattr(np, "argpartition", lambda *given, **named: [calls.append(1), plain(*given, **named)][1])
    reports = SubsetSelection(1.0, 10, 4).randomize(np.zeros(1000, dtype=int), rng=np.random.default_rng(3))
    assert (reports.sum(axis=1) == 4).all()
    assert len(calls) == 1


def test_as_many_subsets_as_allowed_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldpnb.mechanisms.subsets.EXPLICIT_LIMIT", 10)
    assert SubsetSelection(1.0, 5, 2).outputs().shape == (10, 5)
    _, tallies = SubsetSelection(1.0, 5, 2).sample_outputs([900, 0, 0, 0, 100], rng=np.random.default_rng(5))
    assert tallies.size <= 10
    with pytest.raises(ValueError, match="subsets must be at most 10 to list them all, got 15"):
        SubsetSelection(1.0, 6, 2).outputs()
