"""A result that differs only in a last digit stays as it is; one that says something else does not.

Processors differ in the last digits of numbers. The README promises that numbers are the same if
they agree to a relative 1e-6.
"""

import io
import json
import re
from binascii import b2a_base64
from functools import cache

import matplotlib.pyplot as plt
import pytest

from ldpnb.run.catalogue import home
from ldpnb.run.sameness import same

REAL = home() / "figures/2_bun2022/03_cluster_lower_bounds/losses"


@cache
def picture(
    title: str = "A loss of 0.26 nats", colour: str = "#004B94", shift: float = 0.0
) -> bytes:
    figure, axis = plt.subplots(figsize=(7, 3.1))
    axis.plot([0, 1, 2], [0, 1 + shift, 4], color=colour)
    figure.suptitle(title)
    content = io.BytesIO()
    figure.savefig(content, dpi=150)
    plt.close(figure)
    return content.getvalue()


def test_pictures_differ_by_a_title_a_digit_or_a_colour_and_not_by_a_last_digit() -> None:
    assert picture() != picture(shift=1e-4)
    assert same(picture(), picture(shift=1e-4))

    assert not same(picture(), picture("A loss of 0,26 nats"))
    assert not same(picture(), picture("A loss of 0.28 nats"))
    assert not same(picture(), picture(colour="#1B4F94"))
    assert not same(picture(), REAL.with_suffix(".png").read_bytes())
    assert not same(picture(), b"rubbish")


@pytest.mark.parametrize(("shift", "is_same"), [(3e-4, True), (7e-4, False)])
def test_a_curve_may_be_off_by_a_few_hundredths_of_a_pixel(shift: float, is_same: bool) -> None:
    assert same(picture(), picture(shift=shift)) == is_same


@pytest.mark.parametrize("number", [0.25, 4.675033847e-43])
@pytest.mark.parametrize(("off", "is_same"), [(5e-7, True), (2e-6, False), (1e-5, False)])
def test_numbers_are_the_same_to_a_relative_1e_6_however_small(
    number: float, off: float, is_same: bool
) -> None:
    stored = f"loses {number!r} of 1".encode()
    fresh = f"loses {number * (1 + off)!r} of 1".encode()
    assert same(stored, fresh) == is_same


def test_the_numbers_of_a_figure_may_differ_in_a_last_digit_and_not_in_a_word_or_a_row() -> None:
    numbers = REAL.with_suffix(".csv").read_bytes()
    number = re.search(rb"0\.\d{10}", numbers)[0]
    next_digit = b"%d" % ((int(number[-1:]) + 1) % 10)

    assert same(numbers, numbers.replace(number, number[:-1] + next_digit, 1))
    assert not same(numbers, numbers.replace(b"exact", b"exactly", 1))
    assert not same(numbers, numbers + numbers.splitlines()[-1] + b"\n")


def edited(content: bytes, **changes: object) -> bytes:
    return json.dumps(json.loads(content) | changes, indent=1, ensure_ascii=False).encode()


def test_the_provenance_of_a_figure_may_differ_in_its_hashes_and_not_in_its_caption() -> None:
    provenance = REAL.with_suffix(".json").read_bytes()

    assert same(provenance, edited(provenance, sha256="0", drawn={}))
    assert not same(provenance, edited(provenance, caption="Another."))
    assert not same(provenance, b"rubbish")
    assert not same(provenance, b"\xff")


def notebook_with(content: bytes) -> bytes:
    """The output of a cell that shows a picture."""
    # Filled to whole groups of 3 bytes, so that base64 ends without "=".
    filled = content + bytes(-len(content) % 3)
    data = {"image/png": b2a_base64(filled).decode(), "text/plain": ["<Figure>"]}
    return json.dumps({"data": data}).encode()


def test_a_notebook_is_the_same_if_its_pictures_are() -> None:
    stored = notebook_with(picture())
    assert same(stored, notebook_with(picture(shift=1e-4)))
    assert not same(stored, notebook_with(picture("A loss of 0.28 nats")))
