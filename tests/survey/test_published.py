"""Surveys of the R package RRTCS (Rueda, Cobo and Arcos), with the estimates that it publishes.

The numbers of reports and of yes among them are those of its data sets. `HorvitzDataRealSurvey` is
a survey of 710 students of a university.
"""

from fractions import Fraction

import pytest

from ldpnb.survey.estimation import estimate

REAL = {  # share of yes to the unrelated question, reports of yes, estimate, variance
    "copied in an exam": ("1/12", 328, 0.840610328638, 0.0013897158914),
    "fought with a teacher": ("1/10", 180, 0.407042253521, 0.00104519582676),
    "was bullied": ("2/3", 280, 0.1220657277, 0.00133741481944),
    "bullied somebody": ("1/10", 81, 0.128169014085, 0.000559785788238),
    "took drugs": ("1/3", 164, 0.128638497653, 0.000991657986638),
    "had sex in the university": ("1/12", 53, 0.0659624413146, 0.000383953986768),
}


def tallies(yes, number):
    return {"report": ["yes", "no"], "count": [yes, number - yes]}


@pytest.mark.parametrize("question", REAL)
def test_the_unrelated_question_asked_of_students(question):
    prevalence, yes, published, variance = REAL[question]
    unrelated = Fraction(prevalence) / 2
    chances = {"p": str(Fraction(1, 2) + unrelated), "q": str(unrelated)}

    row = estimate(tallies(yes, 710), **chances, population=10777).rows[0]

    assert row.estimate == pytest.approx(published, abs=1e-9)
    assert row.standard_error**2 == pytest.approx(variance, abs=1e-9)


@pytest.mark.parametrize(
    ("yes", "number", "stated", "published", "variance"),
    [
        (60, 125, {"p": "7/10", "q": "3/10", "population": 802}, 0.45, 0.01225635508),
        (
            508,
            1000,
            {"p": "4/5", "q": "1/5", "population": 10000},
            0.513333333333,
            66990.990991e-8,
        ),
    ],
    ids=["WarnerData", "ForcedResponseData"],
)
def test_warner_and_forced_response(yes, number, stated, published, variance):
    row = estimate(tallies(yes, number), **stated).rows[0]
    assert row.estimate == pytest.approx(published, abs=1e-9)
    assert row.standard_error**2 == pytest.approx(variance, abs=1e-9)
