import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ldpnb.mechanisms.frequency import KaryRandomisedResponse
from ldpnb.privacy import shuffling

CASES = json.loads((Path(__file__).parents[1] / "reference/000_003_004.json").read_text())["cases"]
BOUNDS = {
    "shuffle_kRR_eps_upper_blanket": shuffling.epsilon_upper,
    "shuffle_kRR_eps_lower_pair": shuffling.epsilon_two_tallies,
}


def cases(*names: str):
    chosen = [c for c in CASES if c["fn"] in names]
    return pytest.mark.parametrize("case", chosen, ids=lambda c: f"{c['fn']}-{c['inputs']}")


def setting(epsilon: float, size: int, nodes: int, rate: float) -> dict:
    return {"nodes": nodes, "sampling_rate": rate, "mechanism": KaryRandomisedResponse(epsilon, size)}


@cases(*BOUNDS)
def test_reference_bounds(case) -> None:
    i = case["inputs"]
    value = BOUNDS[case["fn"]](i["delta"], **setting(i["eps0"], i["d"], i["n"], i["pi"]))
    assert value == pytest.approx(float(case["value"]), rel=1e-6)


@cases("analytic_gaussian_sigma_hist", "FMT_closed_form")
def test_reference_closed_forms(case) -> None:
    i = case["inputs"]
    value = (
        shuffling.closed_form(i["delta"], nodes=i["n"], epsilon=float(i["eps0"]))
        if "n" in i
        else shuffling.gaussian_deviation(float(i["eps"]), i["delta"])
    )
    assert value == pytest.approx(float(case["value"]), rel=1e-9)


def two_tallies_written_out(epsilon: float, local: float, size: int, nodes: int, rate: float) -> float:
    """Hockey stick between the joint laws of the two tallies, cell by cell."""
    q = 1 / (np.exp(local) + size - 1)
    keep, switch = rate * np.exp(local) * q, rate * q
    cells = np.arange(int(nodes * switch + 12 * np.sqrt(nodes * switch)) + 20)
    first = stats.binom.pmf(cells, nodes - 1, switch)
    others = first[:, None] * stats.binom.pmf(cells, nodes - 1 - cells[:, None], switch / (1 - switch))

    def law(one: float, other: float) -> np.ndarray:
        joint = (1 - one - other) * others
        joint[1:] += one * others[:-1]
        joint[:, 1:] += other * others[:, :-1]
        return joint

    return float(np.maximum(law(keep, switch) - np.exp(epsilon) * law(switch, keep), 0).sum())


def test_two_tallies_agree_with_their_laws_written_out() -> None:
    known = setting(2.0, 10, 2000, 0.4)
    epsilon = shuffling.epsilon_two_tallies(1e-5, **known)
    assert two_tallies_written_out(epsilon, 2.0, 10, 2000, 0.4) == pytest.approx(1e-5, rel=1e-5)


@pytest.mark.parametrize(
    ("epsilon", "size", "nodes", "rate"),
    [
        (3.0, 20, 5000, 1.0),
        (1.0, 101, 50_000, 0.1),
        (5.0, 101, 50_000, 1.0),
        (8.0, 101, 50_000, 1.0),
        (2.0, 3, 9000, 0.9),
    ],
)
def test_bounds_are_ordered_and_close(epsilon: float, size: int, nodes: int, rate: float) -> None:
    known = setting(epsilon, size, nodes, rate)
    upper, lower, pair = (
        f(1e-6, **known) for f in (shuffling.epsilon_upper, shuffling.epsilon_lower, shuffling.epsilon_two_tallies)
    )
    assert lower < upper * (1 + 1e-6)
    assert pair < lower * (1 + 1e-6)
    assert upper - lower < 1e-4 * upper
    assert shuffling.delta_upper(upper, **known) == pytest.approx(1e-6, rel=1e-6)
    assert shuffling.delta_lower(lower, **known) == pytest.approx(1e-6, rel=1e-6)


def test_a_million_nodes_are_bracketed_to_a_thousandth() -> None:
    known = setting(4.0, 101, 10**6, 0.3)
    upper, lower = shuffling.epsilon_upper(1e-6, **known), shuffling.epsilon_lower(1e-6, **known)
    assert 0 <= upper - lower + 1e-9 < 1e-3 * upper


@pytest.mark.parametrize("bound", [shuffling._upper, shuffling._lower])
@pytest.mark.parametrize(
    "known", [(3.0, 20, 5000, 1.0), (7.0, 10, 50_000, 1.0), (1.0, 3, 3000, 1.0), (0.5, 5, 2000, 0.3)]
)
def test_strided_sums_agree_with_full_ones(bound, known) -> None:
    described = bound(known[2], known[3], KaryRandomisedResponse(known[0], known[1]))
    for epsilon in (0.0, 0.05, 0.2):
        full = shuffling._delta(epsilon, described, resolution=1e9)
        assert shuffling._delta(epsilon, described) == pytest.approx(full, rel=2e-5, abs=1e-14)


def test_more_nodes_and_less_sampling_protect_more() -> None:
    sizes = [shuffling.epsilon_upper(1e-6, **setting(4.0, 50, n, 1.0)) for n in (1000, 10_000, 100_000)]
    rates = [shuffling.epsilon_upper(1e-6, **setting(4.0, 50, 10_000, r)) for r in (1.0, 0.5, 0.1)]
    assert sizes == sorted(sizes, reverse=True)
    assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize("epsilon", [1e-6, 50.0])
def test_budgets_survive_the_ends_of_epsilon(epsilon: float) -> None:
    known = setting(epsilon, 101, 50_000, 0.5)
    for bound in (shuffling.epsilon_upper, shuffling.epsilon_lower, shuffling.epsilon_two_tallies):
        assert 0 <= bound(1e-6, **known) <= epsilon
    assert 0 < shuffling.delta_upper(0.0, **known) < 1


def test_no_delta_is_needed_for_more_than_the_local_budget() -> None:
    known = setting(1.0, 5, 100, 0.7)
    assert shuffling.delta_upper(1.0, **known) < 1e-30
    assert shuffling.delta_lower(1.0, **known) < 1e-30


def test_without_privacy_loss_total_variation_is_that_of_two_tallies() -> None:
    known = setting(1.0, 3, 2, 1.0)
    p, q = known["mechanism"].p, known["mechanism"].q
    one, other = ({(0, 2): 0.0} for _ in range(2))
    channel = known["mechanism"].channel()
    for table, value in ((one, 0), (other, 1)):
        for mine in range(3):
            for theirs in range(3):
                cell = tuple(sorted((mine, theirs)))
                table[cell] = table.get(cell, 0.0) + channel[mine, value] * channel[theirs, 2]
    exact = sum(max(one[cell] - other.get(cell, 0.0), 0.0) for cell in one)
    assert shuffling.delta_lower(0.0, **known) == pytest.approx(exact, rel=1e-12)
    assert exact <= p - q


def test_the_published_closed_form_ends_at_its_range() -> None:
    assert np.isnan(shuffling.closed_form(1e-6, nodes=50_000, epsilon=6.0))
    assert shuffling.closed_form(1e-6, nodes=50_000, epsilon=5.0) > shuffling.epsilon_upper(
        1e-6, **setting(5.0, 101, 50_000, 1.0)
    )


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-6, 1e-6), (0.1, 1e-9), (1.0, 1e-6), (50.0, 1e-6)])
def test_gaussian_deviation_spends_exactly_delta(epsilon: float, delta: float) -> None:
    deviation = shuffling.gaussian_deviation(epsilon, delta)
    assert shuffling.gaussian_delta(epsilon, deviation=deviation) == pytest.approx(delta, rel=1e-6)
    assert shuffling.gaussian_delta(epsilon, deviation=0.99 * deviation) > delta


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: shuffling.epsilon_upper(0.0, **setting(1.0, 3, 10, 0.5)),
            r"delta must lie in \(0, 1\), got delta=0.0",
        ),
        (
            lambda: shuffling.epsilon_upper(1e-6, **setting(1.0, 3, 1, 0.5)),
            "nodes must be an integer >= 2, got nodes=1",
        ),
        (lambda: shuffling.epsilon_upper(1e-6, **setting(1.0, 3, 10, 0.0)), r"sampling_rate must lie in \(0, 1\]"),
        (lambda: shuffling.epsilon_lower(1e-6, **setting(1.0, 2, 10, 0.5)), "domain_size must be an integer >= 3"),
        (lambda: shuffling.delta_upper(-0.1, **setting(1.0, 3, 10, 0.5)), "epsilon must be >= 0"),
        (lambda: shuffling.gaussian_deviation(0.0, 1e-6), "epsilon must be > 0"),
    ],
)
def test_bad_input_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
