"""What is left as it is, and what is renewed."""

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


def test_pictures_differ_by_a_title_a_digit_or_a_colour_and_not_by_a_last_digit_of_a_number() -> (
    None
):
    assert picture() != picture(shift=1e-4)
    assert same(picture(), picture(shift=1e-4))

    others = (
        picture("A loss of 0,26 nats"),
        picture("A loss of 0.28 nats"),
        picture(colour="#1B4F94"),
    )

    for other in (*others, REAL.with_suffix(".png").read_bytes(), b"rubbish"):
        assert not same(picture(), other)


@pytest.mark.parametrize(("shift", "is_same"), [(3e-4, True), (7e-4, False)])
def test_a_curve_may_be_off_by_a_few_hundredths_of_a_pixel(shift: float, is_same: bool) -> None:
    assert same(picture(), picture(shift=shift)) == is_same


@pytest.mark.parametrize(("off", "is_same"), [(5e-7, True), (2e-6, False), (1e-5, False)])
def test_numbers_are_the_same_to_a_relative_1e_6(off: float, is_same: bool) -> None:
    """As the README promises."""
    stored, fresh = (f"loses {number!r} of 1".encode() for number in (0.25, 0.25 * (1 + off)))
    assert same(stored, fresh) == is_same


def edited(content: bytes, **changes: object) -> bytes:
    return json.dumps(json.loads(content) | changes, indent=1, ensure_ascii=False).encode()


def test_a_figure_is_the_same_whatever_its_hashes_and_another_with_another_word() -> None:
    numbers, provenance = (REAL.with_suffix(suffix).read_bytes() for suffix in (".csv", ".json"))
    long = re.search(rb"0\.\d{10}", numbers)[0]
    last = long[:-1] + b"%d" % ((int(long[-1:]) + 1) % 10)

    assert same(numbers, numbers.replace(long, last, 1))
    assert same(provenance, edited(provenance, sha256="0", drawn={}))

    for other in (
        numbers.replace(b"exact", b"exactly", 1),
        numbers + numbers.splitlines()[-1] + b"\n",
    ):
        assert not same(numbers, other)

    for other in (edited(provenance, caption="Another."), b"rubbish", b"\xff"):
        assert not same(provenance, other)


def test_a_notebook_is_the_same_if_its_pictures_are() -> None:
    stored, moved, other = (
        json.dumps(
            {"data": {"image/png": b2a_base64(content).decode(), "text/plain": ["<Figure>"]}}
        ).encode()
        for one in (picture(), picture(shift=1e-4), picture("A loss of 0.28 nats"))
        for content in [
            one + bytes(-len(one) % 3)
        ]  # nothing but a line's end follows the last digit
    )

    assert same(stored, moved)
    assert not same(stored, other)
