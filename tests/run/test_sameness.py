"""What is left as it is, and what is renewed."""

import io
import json
import re
from binascii import b2a_base64
from pathlib import Path

import matplotlib.pyplot as plt

from ldpnb.run.catalogue import home
from ldpnb.run.sameness import same_files, same_picture, same_text

REAL = home() / "figures/2_bun2022/03_cluster_lower_bounds/losses"


def picture(title: str = "A loss of 0.26 nats", colour: str = "#004B94", shift: float = 0.0) -> bytes:
    figure, axis = plt.subplots(figsize=(7, 3.1))
    axis.plot([0, 1, 2], [0, 1 + shift, 4], color=colour)
    figure.suptitle(title)
    content = io.BytesIO()
    figure.savefig(content, dpi=150)
    plt.close(figure)
    return content.getvalue()


def test_pictures_differ_by_a_title_a_digit_or_a_colour_and_not_by_a_last_digit_of_a_number() -> None:
    first = picture()
    assert same_picture(first, picture())
    assert same_picture(first, picture(shift=1e-6))
    for other in (picture("A loss of 0,26 nats"), picture("A loss of 0.28 nats"), picture(colour="#1B4F94")):
        assert not same_picture(first, other)


def edited(content: bytes, **changes: object) -> bytes:
    return json.dumps(json.loads(content) | changes).encode()


def test_a_figure_is_the_same_whatever_its_hashes_and_pages_and_another_with_another_word() -> None:
    stored = {path.relative_to(REAL.parent): path.read_bytes() for path in REAL.parent.glob(f"{REAL.name}.*")}
    csv, page, record, drawn = (Path(f"losses.{kind}") for kind in ("csv", "pdf", "json", "png"))
    numbers, provenance = stored[csv].decode(), stored[record]
    long = re.search(r"0\.\d{10}", numbers)[0]
    last = numbers.replace(long, long[:-1] + str((int(long[-1]) + 1) % 10), 1)
    for part in (
        {csv: last.encode()},
        {page: b"another"},
        {record: edited(provenance, sha256="0", drawn={})},
    ):
        assert same_files(stored, stored | part)
    for part in (
        {csv: numbers.replace("exact", "exactly", 1).encode()},
        {csv: (numbers + numbers.splitlines()[-1] + "\n").encode()},
        {record: edited(provenance, caption="Another.")},
        {record: b"rubbish"},
        {drawn: b"rubbish"},
        {Path("losses.svg"): b"one format more"},
        {drawn: picture()},
    ):
        assert not same_files(stored, stored | part)


def test_outputs_are_the_same_up_to_a_millionth_and_their_words_exactly() -> None:
    output = "loss 0.0951229, users 1,000"
    assert same_text(output, output.replace("0.0951229", "0.09512295"))
    for other in ("loss 0.0951239, users 1,000", "loss 0.0951229, users 1,001", "loss -0.0951229, users 1,000"):
        assert not same_text(output, other)


def test_a_notebook_is_the_same_if_its_pictures_are() -> None:
    stored, moved, other = (
        json.dumps({"data": {"image/png": b2a_base64(content).decode(), "text/plain": ["<Figure>"]}}).encode()
        for content in (picture(), picture(shift=1e-6), picture("A loss of 0.28 nats"))
    )
    path = Path("a.ipynb")
    assert same_files({path: stored}, {path: moved})
    assert not same_files({path: stored}, {path: other})
