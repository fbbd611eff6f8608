import numpy as np
import pytest

from ldpnb import claims
from ldpnb.papers.biswas2022.routes import CASES, all_reports, outcomes, published, simulate_one_value
from ldpnb.run.catalogue import find


def test_the_simulation_behind_theorem_3_5_states_its_errors() -> None:
    verdict = claims.decide("biswas2022/theorem-3.5")
    assert verdict.false_alarm < 1e-6
    assert verdict.power > 0.999


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_enumerated_chances_are_those_of_the_users(case) -> None:
    reports = case.reports
    assert reports.chances.sum() == pytest.approx(1, abs=1e-12)
    assert reports.chances.size == (case.domain_size + 1) ** len(case.values)
    size = reports.mean(reports.totals.sum(axis=1))
    assert size == pytest.approx(len(case.values) * case.sampling_rate)


def test_iid_values_vary_more_than_fixed_ones() -> None:
    fixed, iid = (all_reports((0, 1, 1), (1.0,) * 3, 1.0, 2, iid) for iid in (False, True))
    assert iid.variance(iid.totals)[0] > fixed.variance(fixed.totals)[0]
    assert iid.mean(iid.totals) == pytest.approx(fixed.mean(fixed.totals))


def test_outcomes_of_one_user_are_their_law() -> None:
    law = outcomes(np.array([[0.2, 0.3]]))
    assert sorted(law.chances) == pytest.approx([0.2, 0.3, 0.5])


def test_one_value_is_simulated_from_its_law() -> None:
    tallies = simulate_one_value(30, 100, 0.5, 1.0, 4, 20_000, np.random.default_rng(1))
    keep, switch = np.e / (np.e + 3), 1 / (np.e + 3)
    chances = 0.5 * np.repeat([keep, switch], [30, 70])
    assert tallies[:, 0].mean() == pytest.approx(chances.sum(), abs=5 * np.sqrt(chances.sum() / 20_000))
    assert tallies.sum(axis=1).mean() == pytest.approx(50, abs=5 * np.sqrt(25 / 20_000))


@pytest.mark.parametrize("name", ["01_sampling_bias", "02_tv_vs_communication"])
def test_notebooks_run_at_the_scale_of_the_source(name: str) -> None:
    defaults = {p.name: p.default for p in find(f"1_biswas2022/{name}").parameters}
    assert defaults["users"] == published()["nodes"] == 50_000
    assert {published()["rate_low"], published()["rate_high"]} <= set(defaults["sampling_rates"])
