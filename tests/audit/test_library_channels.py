"""The committed channels of public libraries have the losses that the notebook states.

Seven of them are compared with the closed form of their mechanism.
"""

import csv
import itertools
import math
from pathlib import Path

import pytest
from readable import stated

import ldpnb
from ldpnb.audit.files import read_channel
from ldpnb.papers.companion.formulas import fake_data

FOLDER = Path(ldpnb.__file__).parents[1] / "notebooks/6_implementations/channels"
with (FOLDER / "index.csv").open(newline="") as file:
    INDEX = list(csv.DictReader(file))
E = math.e
ROOT = math.exp(0.5)


def krr(values, truthful):
    return lambda y, x: truthful if y == x else (1 - truthful) / (values - 1)


def unary(p, q):
    def law(bits, x):
        rates = [p if place == x else q for place in range(len(bits))]
        return math.prod(rate if bit else 1 - rate for bit, rate in zip(bits, rates, strict=True))

    return law


def subset(chosen, x):
    """Two of six values, the own one among them with probability 2e/(2e + 4)."""
    own = 2 * E / (2 * E + 4)
    return own / 5 if x in chosen else (1 - own) / 10


def two_rounds(y, x):
    """L-GRR for ten values as the library chains it: budgets 2, and 1 for the first report."""
    p1 = math.exp(2) / (math.exp(2) + 9)
    q1 = 1 / (math.exp(2) + 9)
    p2 = (q1 - E * p1) / (-p1 * E + 10 * q1 * E - q1 * E - 9 * p1 + q1)
    q2 = (1 - p2) / 9
    return p1 * p2 + 9 * q1 * q2 if y == x else p1 * q2 + q1 * p2 + 8 * q1 * q2


CLOSED_FORMS = {
    "pure-ldp-de-d-4.csv": krr(4, E / (E + 3)),
    "multi-freq-ldpy-grr-k-4.csv": krr(4, E / (E + 3)),
    "pure-ldp-sue-d-3.csv": unary(ROOT / (ROOT + 1), 1 / (ROOT + 1)),
    "pure-ldp-oue-d-3.csv": unary(0.5, 1 / (E + 1)),
    "multi-freq-ldpy-oue-k-3.csv": unary(0.5, 1 / (E + 1)),
    "multi-freq-ldpy-ss-k-6.csv": subset,
    "multi-freq-ldpy-l-grr-k-10-eps_perm-2-one-report.csv": two_rounds,
}


@pytest.mark.parametrize("row", INDEX, ids=lambda row: row["file"])
def test_the_table_is_that_of_the_saved_channels(row):
    channel = read_channel(FOLDER / row["file"])
    assert channel.epsilon == pytest.approx(float(row["exact"]), rel=1e-11)

    head = (FOLDER / row["file"]).read_text().splitlines()[0]
    assert head.startswith(f"# {row['library']} {row['version']} ({row['released']})")


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_a_saved_channel_has_the_closed_form_of_its_mechanism(name):
    channel = read_channel(FOLDER / name)
    for output, row in zip(channel.outputs, channel.probabilities, strict=True):
        for value, chance in zip(channel.inputs, row, strict=True):
            assert chance == pytest.approx(CLOSED_FORMS[name](output, value), abs=1e-15)


@pytest.mark.parametrize("sizes", [[2, 2], [2, 2, 2], [4, 2]], ids=stated)
def test_the_saved_channels_with_fakes_are_those_of_the_formula(sizes):
    shape = "x".join(map(str, sizes))
    channel = read_channel(FOLDER / f"multi-freq-ldpy-rs-fd-grr-d-{len(sizes)}-k-{shape}.csv")
    tuples = tuple(itertools.product(*map(range, sizes)))

    assert channel.inputs == tuples
    assert channel.outputs == tuples
    assert channel.probabilities == pytest.approx(fake_data.channel(1.0, sizes), abs=1e-15)
