"""Maximum-likelihood estimates: exact where a formula exists, certified everywhere."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldpnb.estimators.frequency import project_simplex, unbiased
from ldpnb.estimators.likelihood import Fit, certificate_gap, krr_mle, mle, support_mle
from ldpnb.estimators.solvers import Rows, proximal_newton
from ldpnb.mechanisms.frequency import KaryRandomisedResponse, UnaryEncoding
from ldpnb.mechanisms.subsets import SubsetSelection

CASES = json.loads((Path(__file__).parents[1] / "reference/002.json").read_text())["cases"]


def cases(name: str) -> list[dict]:
    return [case for case in CASES if case["fn"] == name]


@pytest.mark.parametrize("case", cases("rr"))
def test_krr_estimates_meet_the_reference(case: dict) -> None:
    mechanism, users = KaryRandomisedResponse(case["eps"], len(case["s"])), sum(case["s"])
    plain = unbiased(case["s"], users, mechanism)
    assert plain == pytest.approx(case["FO"], rel=1e-9)
    assert project_simplex(plain) == pytest.approx(case["norm_sub"], rel=1e-9, abs=1e-12)
    assert krr_mle(case["s"], epsilon=case["eps"]) == pytest.approx(case["mle"], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("case", cases("ue"))
def test_unary_estimates_meet_the_reference(case: dict) -> None:
    make = UnaryEncoding.optimised if case["kind"] == "OUE" else UnaryEncoding.symmetric
    mechanism, tallies = make(case["eps"], case["a"]), np.array(case["tallies"])
    plain = unbiased(tallies @ mechanism.outputs(), tallies.sum(), mechanism)
    assert plain == pytest.approx(case["FO"], rel=1e-9)
    assert project_simplex(plain) == pytest.approx(case["norm_sub"], rel=1e-9, abs=1e-12)
    fit = mle(mechanism.channel(), tallies, tolerance=1e-9)
    assert fit.estimate == pytest.approx(case["mle"], rel=1e-9, abs=1e-12)
    value = tallies @ np.log(mechanism.channel() @ fit.estimate) / tallies.sum()
    assert value == pytest.approx(case["loglik_per_user_rel"], rel=1e-9)
    assert support_mle(mechanism.outputs(), tallies, mechanism).estimate == pytest.approx(
        case["mle"], rel=1e-9, abs=1e-12
    )


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 500), min_size=2, max_size=12).filter(any), st.floats(0.01, 12))
def test_values_that_survive_norm_sub_survive_the_mle(tallies: list[int], epsilon: float) -> None:
    plain = unbiased(tallies, sum(tallies), KaryRandomisedResponse(epsilon, len(tallies)))
    near, best = project_simplex(plain), krr_mle(tallies, epsilon=epsilon)
    assert (best[near > 1e-12] > 0).all()
    if plain.min() >= 0:
        assert best == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 50.0])
def test_the_krr_mle_is_stable_at_both_ends_of_epsilon(epsilon: float) -> None:
    assert krr_mle([600, 400], epsilon=epsilon) == pytest.approx([1, 0] if epsilon < 1 else [0.6, 0.4], abs=1e-12)
    even = krr_mle([500, 500, 500], epsilon=epsilon)
    assert even == pytest.approx([1 / 3] * 3, rel=1e-12)


def test_the_krr_mle_solves_a_million_values_in_one_sort() -> None:
    tallies = np.random.default_rng(1).multinomial(10**7, np.full(10**6, 1e-6))
    assert krr_mle(tallies, epsilon=3.0).sum() == pytest.approx(1, abs=1e-9)


def test_many_data_sets_are_solved_like_one() -> None:
    mechanism, rng = UnaryEncoding.optimised(2.0, 4), np.random.default_rng(3)
    tallies = rng.multinomial(500, mechanism.channel() @ np.array([0.7, 0.2, 0.1, 0.0]), size=8)
    together = mle(mechanism.channel(), tallies, tolerance=1e-9)
    apart = [mle(mechanism.channel(), tally, tolerance=1e-9).estimate for tally in tallies]
    assert together.estimate.shape == (8, 4)
    assert together.estimate == pytest.approx(np.array(apart), abs=1e-9)
    assert together.gap.max() < 1e-9


@pytest.mark.parametrize("kind", ["symmetric", "optimised"])
@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 8.0, 30.0])
def test_ten_values_and_a_million_users_are_certified_at_every_epsilon(kind: str, epsilon: float) -> None:
    mechanism, rng = getattr(UnaryEncoding, kind)(epsilon, 10), np.random.default_rng(4)
    outputs, tallies = mechanism.sample_outputs(rng.multinomial(10**6, rng.dirichlet(np.full(10, 0.5))), rng=rng)
    fit = support_mle(outputs, tallies, mechanism, tolerance=1e-6)
    rows = 1 + np.expm1(epsilon) * outputs
    assert certificate_gap(rows, tallies, fit.estimate / fit.estimate.sum()) < 2e-6


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 8.0, 20.0])
def test_ages_under_unary_encoding_are_certified_in_well_under_a_second(epsilon: float) -> None:
    mechanism, rng = UnaryEncoding.optimised(epsilon, 74), np.random.default_rng(5)
    outputs, tallies = mechanism.sample_outputs(rng.multinomial(32_561, rng.dirichlet(np.full(74, 0.5))), rng=rng)
    start = time.process_time()
    fit = support_mle(outputs, tallies, mechanism, tolerance=1e-3)
    assert time.process_time() - start < 2
    assert certificate_gap(1 + np.expm1(epsilon) * outputs, tallies, fit.estimate / fit.estimate.sum()) < 1.1e-3


def test_a_thousand_values_are_certified_without_listing_outputs() -> None:
    mechanism, rng = UnaryEncoding.optimised(6.0, 1024), np.random.default_rng(6)
    held = rng.multinomial(5000, rng.dirichlet(np.full(1024, 0.5)))
    outputs = mechanism.randomize(np.repeat(np.arange(1024), held), rng=rng)
    fit = support_mle(outputs, np.ones(5000, dtype=int), mechanism, tolerance=0.1)
    assert certificate_gap(1 + np.expm1(6.0) * outputs, np.ones(5000), fit.estimate / fit.estimate.sum()) < 0.11


def test_a_sample_of_the_rows_is_model_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldpnb.estimators.solvers._MODEL_WORK", 1e6)
    monkeypatch.setattr("ldpnb.estimators.solvers._LARGE", 1)
    mechanism, rng = UnaryEncoding.optimised(5.0, 40), np.random.default_rng(7)
    held = rng.multinomial(20_000, rng.dirichlet(np.full(40, 0.3)))
    outputs, tallies = mechanism.sample_outputs(held, rng=rng)
    fit = support_mle(outputs, tallies, mechanism, tolerance=1e-3)
    exact = mle(1 + np.expm1(5.0) * outputs, tallies, tolerance=1e-3)
    assert fit.estimate == pytest.approx(exact.estimate, abs=1e-4)


def test_the_general_solver_agrees_with_the_formula_beyond_the_short_one() -> None:
    mechanism, rng = KaryRandomisedResponse(2.0, 50), np.random.default_rng(8)
    tallies = mechanism.sample_tallies(rng.multinomial(5000, rng.dirichlet(np.full(50, 0.5))), rng=rng)
    expected = krr_mle(tallies, epsilon=2.0)
    assert mle(mechanism.channel(), tallies, tolerance=1e-8).estimate == pytest.approx(expected, abs=1e-6)
    assert support_mle(np.eye(50), tallies, mechanism, tolerance=1e-8).estimate == pytest.approx(expected, abs=1e-6)


def test_subset_selection_shares_the_likelihood_of_support() -> None:
    mechanism, rng = SubsetSelection(1.0, 5, 2), np.random.default_rng(9)
    outputs, tallies = mechanism.sample_outputs(np.array([400, 300, 200, 100, 0]), rng=rng)
    general = mle(
        mechanism.channel(),
        [dict(zip(map(bytes, outputs), tallies, strict=True)).get(bytes(o), 0) for o in mechanism.outputs()],
    )
    assert support_mle(outputs, tallies, mechanism).estimate == pytest.approx(general.estimate, abs=1e-9)


def test_single_precision_alone_is_never_a_certificate() -> None:
    rng = np.random.default_rng(10)
    rows = Rows(rng.integers(0, 2, (400, 40), dtype=np.uint8), np.full(400, 1 / 400), 1.0, 2.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ldpnb.estimators.solvers._LARGE", 1)
        assert proximal_newton(rows, np.full(40, 1 / 40), tolerance=1e-9, passes=2)[1] == np.inf


def test_outputs_that_leave_the_estimate_open_still_get_a_maximum() -> None:
    fit = mle([[0.5, 0.25, 0.25], [0.5, 0.75, 0.75]], [40, 60])
    assert isinstance(fit, Fit)
    assert fit.estimate[0] == pytest.approx(0.6, abs=1e-6)
