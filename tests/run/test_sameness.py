"""What is left as it is, and what is renewed."""

import io
import json
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from ldpnb.run.catalogue import home
from ldpnb.run.sameness import figures_in, same_content, same_figure, same_picture, same_text

REAL = "2_bun2022/03_cluster_lower_bounds"


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


def edited(name: str, change) -> bytes:
    about = json.loads((home() / "figures" / f"{REAL}/{name}.json").read_text())
    change(about)
    return json.dumps(about).encode()


@pytest.mark.parametrize("name", ["losses"])
def test_a_figure_is_the_same_whatever_its_hashes_and_pages_and_another_with_another_word(name: str) -> None:
    stored = figures_in(home() / "figures" / REAL)[name]
    numbers = stored[".csv"].decode()
    long = re.search(r"0\.\d{10}", numbers)[0]
    last = numbers.replace(long, long[:-1] + str((int(long[-1]) + 1) % 10), 1)
    for same in (
        {},
        {".csv": last.encode()},
        {".pdf": b"another page"},
        {".json": edited(name, lambda about: about.update(sha256="0", drawn={}))},
    ):
        assert same_figure(stored, stored | same)
    for other in (
        {".csv": numbers.replace("exact", "exactly", 1).encode()},
        {".csv": (numbers + numbers.splitlines()[-1] + "\n").encode()},
        {".json": edited(name, lambda about: about.update(caption="Another."))},
        {".json": edited(name, lambda about: about.update(title="Another"))},
        {".json": b"rubbish"},
        {".svg": b"one format more"},
        {".png": picture()},
    ):
        assert not same_figure(stored, stored | other)


def test_outputs_are_the_same_up_to_a_millionth_and_their_words_exactly() -> None:
    output = [{"data": {"text/plain": ["loss  0.0951229\n", "users 1,000"]}, "output_type": "execute_result"}]
    moved = json.loads(json.dumps(output).replace("0.0951229", "0.09512295"))
    assert same_content(output, moved)
    for before, after in (
        ("0.0951229", "0.0951239"),
        ("loss", "gain"),
        ("1,000", "1,001"),
        ("0.0951229", "-0.0951229"),
    ):
        assert not same_content(output, json.loads(json.dumps(output).replace(before, after)))
    assert not same_text("1 2", "1 2 3")


def test_a_folder_of_figures_is_read_by_name_and_kind(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c.csv").write_bytes(b"1")
    (tmp_path / "a/b/c.png").write_bytes(b"2")
    assert figures_in(tmp_path) == {"a/b/c": {".csv": b"1", ".png": b"2"}}
