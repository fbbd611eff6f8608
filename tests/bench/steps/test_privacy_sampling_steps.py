"""How many evaluations the searches behind amplified budgets take, and where they start and end."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ldpnb.designs import sizes as size_laws
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.hashing import LocalHashing
from ldpnb.privacy import blanket, clusters, random_size, shuffling, tallies


@pytest.mark.parametrize(
    ("epsilon", "size", "users", "rate", "delta", "sums", "guesses"),
    [
        (3.0, 20, 5000, 1.0, 1e-6, 11, 15),
        (1.0, 101, 50_000, 0.1, 1e-6, 7, 19),
        (8.0, 101, 50_000, 1.0, 1e-6, 11, 2),
        (2.0, 3, 900, 0.9, 1e-8, 14, 16),
        (4.0, 5, 300, 0.5, 1e-3, 15, 18),
        (0.5, 10, 2000, 0.3, 1e-5, 8, 18),
        (1e-4, 10, 2000, 0.3, 1e-5, 2, 2),
        (10.0, 10, 200, 0.3, 1e-5, 11, 2),
        (3.0, 100, 100, 0.02, 1e-9, 20, 16),
    ],
)
def test_a_shuffled_budget_takes_a_dozen_sums(
    counted: Callable[[Any, str], list[int]],
    epsilon: float,
    size: int,
    users: int,
    rate: float,
    delta: float,
    sums: int,
    guesses: int,
) -> None:
    reports = shuffling.ShuffledReports(users, rate, KaryRandomisedResponse(epsilon, size))
    for bound in (reports.epsilon_upper, reports.epsilon_lower):
        taken, guessed = counted(tallies, "delta"), counted(shuffling, "gaussian_delta")
        assert 0 <= bound(delta) <= epsilon
        assert len(taken) <= sums
        assert len(guessed) <= guesses


def test_a_gaussian_deviation_takes_a_dozen_evaluations(counted: Callable[[Any, str], list[int]]) -> None:
    taken = counted(shuffling, "gaussian_delta")
    for epsilon in (0.01, 0.1, 1.0, 10.0):
        for delta in (1e-9, 1e-6, 1e-2):
            assert shuffling.gaussian_deviation(epsilon, delta) > 0
    assert len(taken) <= 158


def test_coins_are_balanced_in_few_newton_steps(counted: Callable[[Any, str], list[int]]) -> None:
    taken, rng = counted(clusters, "expit"), np.random.default_rng(1)
    for count in (2, 10, 200, 5000):
        for scale in (0.1, 3.0, 100.0):
            for share in (0.02, 0.5, 0.9):
                order = max(1, int(share * count))
                assert np.isfinite(clusters.log_symmetric_ratio(scale * rng.standard_normal(count), order))
    assert len(taken) <= 205


@pytest.mark.parametrize(("count", "terms"), [(100, 33), (5000, 17), (100_000, 16)])
def test_a_ratio_of_symmetric_polynomials_is_a_short_fourier_sum(
    counted: Callable[[Any, str], list[int]], count: int, terms: int
) -> None:
    taken = counted(np, "log1p")
    assert clusters.log_symmetric_ratio(np.repeat(np.linspace(-1, 1, 10), count // 10), count // 3) < 0
    assert len(taken) <= terms


def test_a_random_size_settles_in_a_few_passes(counted: Callable[[Any, str], list[int]]) -> None:
    taken = counted(random_size, "_best_steps")
    laws = [size_laws.size_law({0: 0.3, 5: 0.4, 20: 0.3}, 25), size_laws.truncated_gaussian_size(60, 20.0, 3.0)]
    laws += [size_laws.size_law(np.random.default_rng(seed).dirichlet(np.full(40, 0.1))) for seed in range(4)]
    for law in laws:
        for epsilon in (1e-3, 0.5, 3.0):
            assert 0 < random_size.random_size_loss(law, epsilon) <= 2 * epsilon
    assert len(taken) <= 84


@pytest.mark.parametrize(
    ("users", "budget", "sizes", "kinks"),
    [(3000, 0.3, [235, 850, 245, 816], 39), (10**6, 0.05, [8, 29_102, 8, 27_631], 210)],
)
def test_a_delta_takes_tables_of_a_fixed_size_in_all_and_few_kinks(
    monkeypatch: pytest.MonkeyPatch,
    counted: Callable[[Any, str], list[int]],
    users: int,
    budget: float,
    sizes: list[int],
    kinks: int,
) -> None:
    seen, plain = [], tallies._shortfalls
    monkeypatch.setattr(tallies, "_shortfalls", lambda law, above: [seen.extend(law.logs.shape), plain(law, above)][1])
    taken = counted(np, "nan_to_num")
    reports = shuffling.ShuffledReports(users, 0.7, KaryRandomisedResponse(2.0, 20))
    assert reports.delta_lower(budget) <= reports.delta_upper(budget)
    assert seen == pytest.approx(sizes, abs=2)
    assert len(taken) <= kinks


@pytest.mark.parametrize(
    ("mechanism", "users", "cells"),
    [
        (KaryRandomisedResponse(3.0, 20), 5000, [2**11, 2**15, 2**15]),
        (UnaryEncoding.optimised(1.0, 3), 5000, [2**11, 2**14, 2**13]),
        (LocalHashing(2.0, 9, 4), 300, [2**11, 2**13, 2**13]),
    ],
)
def test_a_blanket_takes_one_transform_of_a_grid_no_finer_than_needed(
    monkeypatch: pytest.MonkeyPatch, mechanism: Any, users: int, cells: list[int]
) -> None:
    taken, plain = [], np.fft.irfft
    monkeypatch.setattr(np.fft, "irfft", lambda sums, size: [taken.append(size), plain(sums, size)][1])
    known = blanket.Blanket.of(mechanism).sampled(0.7)
    assert [0 < known.delta_upper(epsilon, users=users) < 1 for epsilon in (0.0, 0.1, 0.5)]
    assert taken == cells
