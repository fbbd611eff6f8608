"""The proofs behind biswas2022 refuse what is false: a longer range, another estimate, the opposite order."""

from fractions import Fraction

import pytest

from ldpnb.claims import UnsoundError
from ldpnb.deciders import identity, oo, symbols
from ldpnb.papers.biswas2022 import proofs
from ldpnb.papers.biswas2022.proofs import f, n, pi, survey, t


def test_returns_diminish_no_further_than_stated() -> None:
    assert proofs.fewer_gains(pi=(0, Fraction(3, 4)))
    assert not proofs.fewer_gains(pi=(0, Fraction(4, 5)))
    fewer = 1 + (t - 1) * (t - 1) / (3 * t) * Fraction(99, 100)
    assert not proofs.fewer_gains(fewer + symbols("more")[0], more=(0, oo))


def test_only_an_estimate_that_rescales_its_reports_is_the_mean_of_its_thinned_self() -> None:
    assert proofs.thinned(proofs.rescaled)
    assert not proofs.thinned(lambda tallies, rate: proofs.unadjusted(tallies))


def test_an_estimate_must_be_affine() -> None:
    with pytest.raises(UnsoundError, match="not affine"):
        proofs.moments(lambda tallies: proofs.unadjusted(tallies) * proofs.unadjusted(tallies), proofs.FIXED)


def test_moments_are_those_of_one_user_and_no_others() -> None:
    mean, variance = proofs.moments(proofs.realised, proofs.FIXED)
    assert identity(mean, n * f)
    assert not identity(variance, survey("iid").variance_realised_size(n * f))
    assert not identity(variance, survey(rate=pi / 2).variance_realised_size(n * f))
