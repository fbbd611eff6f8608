"""What each observer of a sample of randomised responses learns: the tour's losses, by enumerating small populations."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from itertools import combinations, product

import numpy as np
import pytest

from ldpnb.designs import laws
from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy.optimiser import largest_loss
from ldpnb.privacy.participation import participation_loss
from ldpnb.privacy.shuffling import ShuffledReports
from ldpnb.privacy.subsampling import poisson_loss, srs_loss

Law = dict[Hashable, float]
Drawn = dict[tuple[int, ...], float]
"""Who is asked, and with which chance."""

EPSILON, PEOPLE, DELTA = 1.3, 4, 0.01
RATES = [1.0, 0.5, 0.25]
TRUE, FALSE = np.exp(EPSILON) / (np.exp(EPSILON) + 1), 1 / (np.exp(EPSILON) + 1)


def losses() -> np.ndarray:
    """Return the losses of the tour's observers, a row each."""
    shuffled = [
        ShuffledReports(PEOPLE, rate, KaryRandomisedResponse(EPSILON, 2)).epsilon_upper(DELTA) for rate in RATES
    ]
    drawn = [srs_loss(EPSILON, round(rate * PEOPLE) / PEOPLE) for rate in RATES]
    return np.array(
        [
            [participation_loss(EPSILON, lowest_rate=rate, highest_rate=rate) for rate in RATES],
            [srs_loss(EPSILON, 1.0)] * 3, shuffled, drawn, drawn,
            [poisson_loss(EPSILON, rate, neighbours="deletion") for rate in RATES],
        ]
    )  # fmt: skip


def by_chance(people: int, rate: float) -> Drawn:
    """Ask everybody independently."""
    every = (who for size in range(people + 1) for who in combinations(range(people), size))
    return {who: rate ** len(who) * (1 - rate) ** (people - len(who)) for who in every}


def of_fixed_size(people: int, rate: float) -> Drawn:
    every = list(combinations(range(people), round(people * rate)))
    return dict.fromkeys(every, 1 / len(every))


def reports(truth: tuple[int, ...], drawn: Drawn, sees: Callable[[dict[int, int]], Hashable]) -> Law:
    """Return the law of what is seen of the reports of those who are asked."""
    law: defaultdict[Hashable, float] = defaultdict(float)
    for who, chance in drawn.items():
        for answers in product((0, 1), repeat=len(who)):
            right = sum(truth[person] == answer for person, answer in zip(who, answers, strict=True))
            seen = sees(dict(zip(who, answers, strict=True)))
            law[seen] += chance * TRUE**right * FALSE ** (len(who) - right)
    return dict(law)


def names(answers: dict[int, int]) -> Hashable:
    return tuple(sorted(answers.items()))


def numbers(answers: dict[int, int]) -> Hashable:
    return len(answers), sum(answers.values())


def neighbours(drawn: Drawn, sees: Callable[[dict[int, int]], Hashable]) -> Iterable[tuple[Law, Law]]:
    """Yield what is seen of every two populations that differ in the answer of the first person."""
    for others in product((0, 1), repeat=PEOPLE - 1):
        one, other = (reports((answer, *others), drawn, sees) for answer in (0, 1))
        yield from ((one, other), (other, one))


def pure(pairs: Iterable[tuple[Law, Law]]) -> float:
    return max(float(np.log(p / other[seen])) for one, other in pairs for seen, p in one.items() if p)


def test_who_knows_the_names_or_only_the_numbers_of_a_sample_by_chance_learns_what_no_sampling_would_tell() -> None:
    named, counted = losses()[:2]
    for row, sees in ((named, names), (counted, numbers)):
        assert row == pytest.approx([pure(neighbours(by_chance(PEOPLE, rate), sees)) for rate in RATES], rel=1e-12)
        assert row == pytest.approx(EPSILON, rel=1e-12)


def test_numbers_of_a_secret_sample_of_fixed_size_lose_what_subsampling_says() -> None:
    exact = [pure(neighbours(of_fixed_size(PEOPLE, rate), numbers)) for rate in RATES]
    assert losses()[3] == pytest.approx(exact, rel=1e-12)
    assert exact[2] < 0.4 * EPSILON


def test_a_curator_loses_at_most_what_a_linear_program_over_all_her_mechanisms_finds() -> None:
    fixed, by_lot = losses()[4:]
    others = list(range(PEOPLE - 1))
    for rate, replaced, removed in zip(RATES, fixed, by_lot, strict=True):
        size = round(rate * PEOPLE)
        one, other = (laws.subsets([changed, *others], size) for changed in (8, 9))
        worst = largest_loss(one, other, epsilon=EPSILON, mechanism="replacement").loss
        assert replaced == pytest.approx(worst, rel=1e-9)
        here, away = laws.poisson([8, *others], [rate] * PEOPLE), laws.poisson(others, [rate] * (PEOPLE - 1))
        assert removed == pytest.approx(largest_loss(here, away, epsilon=EPSILON).loss, rel=1e-9)
