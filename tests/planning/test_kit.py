"""The field kit: a draw that anybody can repeat, cards with the plan's exact chances, and files that are whole."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldpnb.planning.kit.pages import pages, save
from ldpnb.rng import stream
from ldpnb.surveys.field_plan import FieldPlan
from ldpnb.surveys.fieldwork import draw
from ldpnb.surveys.reports import DEVICES, KINDS, realised

LABELS = ("never", "once", "often")
DESIGNS: dict[str, dict[str, Any]] = {
    "everyone": {},
    "simple": {"population": 900},
    "strata": {"strata": {"north": (500, 120), "south | west": (300, 80)}},
    "clusters": {"population": 900, "clusters": 60, "chosen": 20, "cluster_size": 15},
    "two stages": {"population": 900, "clusters": 60, "chosen": 20, "take": 10},
}


def planned(
    design: str = "simple", kind: str = "binary", device: str = "spinner", **more: Any
) -> FieldPlan:
    labels = LABELS if kind in ("labels", "bits") else ()
    p, q = realised(
        "OUE" if kind == "bits" else "k-RR", 1.5, DEVICES.get(device, 100), len(labels) or 2
    )
    chances: dict[str, Any] = {"epsilon": 1.2} if kind == "Laplace" else {"p": str(p), "q": str(q)}
    size = {"low": 0.0, "high": 24.0} if kind in ("number", "Laplace") else {}
    options = (
        DESIGNS[design]
        | chances
        | size
        | {"asked": 200, "answers": 150, "error": 0.1, "failure": 0.05}
        | more
    )
    return FieldPlan(design=design, kind=kind, device=device, labels=labels, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("design", DESIGNS)
def test_every_page_is_filled_for_every_plan(design: str, kind: str) -> None:
    for device in DEVICES if kind != "Laplace" else ("form",):
        plan = planned(design, kind, device, question="Do you ...?")
        made = pages(plan, {"sex": ("f", "m")})
        assert ("card.md" in made) == (device != "form")
        for name, text in made.items():
            assert name.endswith(".html") or not re.search(r"\$[a-z]|None|nan\b", text), (
                name,
                text,
            )
        assert made["reports.csv"] == ",".join([*plan.columns, "sex", "id"]) + "\n"
        for name in (
            "consent.md",
            "script.md",
            "data.md",
            "device.md",
            "methods.md",
            "sample.md",
            "start.md",
        ):
            assert len(made[name]) > 350


def test_a_draw_is_that_of_the_rule_on_the_page() -> None:
    plan, ids = planned("strata"), [str(i) for i in range(800)]
    frame = {"id": ids, "stratum": ["north"] * 500 + ["south | west"] * 300}
    drawn = draw(plan, frame, seed=7)
    for name, number, own in (("north", 120, ids[:500]), ("south | west", 80, ids[500:])):
        chances = stream("draw", f"stratum {name}", seed=7).random(len(own))
        rule = sorted(x for _, x in sorted(zip(chances, sorted(own), strict=True))[:number])
        assert drawn["id"][drawn["stratum"] == name].tolist() == rule
    backwards = draw(plan, {name: column[::-1] for name, column in frame.items()}, seed=7)
    assert (
        backwards["id"].tolist() == drawn["id"].tolist() != draw(plan, frame, seed=8)["id"].tolist()
    )


def test_clusters_are_drawn_and_then_people_in_them() -> None:
    frame = {"id": np.arange(900).astype(str), "cluster": np.arange(900) % 60}
    whole, some = (draw(planned(design), frame, seed=1) for design in ("clusters", "two stages"))
    for drawn, each in ((whole, 15), (some, 10)):
        names, times = np.unique(drawn["cluster"], return_counts=True)
        assert (names.size, set(times), set(drawn["cluster_size"])) == (20, {each}, {"15"})
        assert (drawn["id"].astype(int) % 60 == drawn["cluster"].astype(int)).all()
    assert set(whole["cluster"]) == set(some["cluster"])


def test_every_sample_is_equally_likely() -> None:
    plan, times = planned(population=5, asked=2, answers=2), dict[tuple[str, ...], int]()
    for seed in range(600):
        drawn = tuple(draw(plan, {"id": list("abcde")}, seed=seed)["id"])
        times[drawn] = times.get(drawn, 0) + 1
    assert len(times) == 10
    assert sum((n - 60) ** 2 / 60 for n in times.values()) < 45  # chi-square of 9, false alarm 1e-6


IDS = [str(i) for i in range(900)]


@pytest.mark.parametrize(
    ("design", "frame", "message"),
    [
        ("everyone", {"id": IDS}, "frame needs a plan of a sample"),
        ("simple", {"id": IDS[:899]}, "frame must have the 900 people of the plan, got 899"),
        ("simple", {"id": [*IDS[:899], "3"]}, "id must be there once each, got '3' in row 900"),
        ("simple", {"id": [*IDS[:899], ""]}, "id must be given in every row, got '' in row 900"),
        ("strata", {"id": IDS, "stratum": ["west"] * 900}, "frame must have the 2 strata of the plan, got 3"),
        ("strata", {"id": IDS, "stratum": ["north"] * 900}, "stratum north must have the 500 people of the plan, got 900"),
        ("clusters", {"id": IDS, "cluster": np.arange(900) % 59}, "frame must have the 60 clusters of the plan, got 59"),
        ("clusters", {"id": IDS, "cluster": [1, *(np.arange(899) % 60)]}, "cluster 1 must have the 15 people of the plan, got 16"),
    ],
)  # fmt: skip
def test_a_list_of_another_population_is_refused(
    design: str, frame: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        draw(planned(design), frame, seed=0)


def numbers_of(card: str) -> list[int]:
    """The outcomes at which the card says something else."""
    return [
        int(number) for pair in re.findall(r"\*\*(\d+) to (\d+)\*\*: ", card) for number in pair
    ]


@pytest.mark.parametrize("device", [name for name in DEVICES if name != "form"])
def test_the_card_has_the_chances_of_the_plan(device: str) -> None:
    plan, outcomes = planned(device=device), DEVICES[device]
    first, kept, after, last = numbers_of(pages(plan)["card.md"])
    assert (first, after, last) == (1, kept + 1, outcomes)
    assert (Fraction(kept, last), Fraction(last - kept, last)) == plan.chances
    plan = planned(kind="labels", device=device)
    card = pages(plan)["card.md"]
    _, kept, _, last = numbers_of(card)
    assert "one of the 3 answer cards (never, once, often)" in card  # the true one too
    other = Fraction(last - kept, 3 * last)
    assert (Fraction(kept, last) + other, other) == plan.chances
    plan = planned(kind="bits", device=device)
    own, other = (
        Fraction(int(n), outcomes)
        for n in re.findall(r'say "yes" at 1 to (\d+)', pages(plan)["card.md"])
    )
    assert (own, other) == plan.chances


def test_the_texts_say_forced_answers_epsilon_as_odds_and_questions_as_they_are() -> None:
    assert numbers_of(pages(planned(device="die", p="5/6", q="2/6"))["card.md"]) == [
        1,
        2,
        3,
        5,
        6,
        6,
    ]
    question = 'Did it cost $5 or <b onload="x()">more</b>\n| </script>?'
    made = pages(planned(p="73/100", q="27/100", question=question))
    assert "at most 2.71 times as likely" in made["consent.md"]  # 73/27 = 2.7037, rounded up
    assert (
        "50 in 100 that a certain answer is yours, your report can raise that to 73 in 100"
        in made["consent.md"]
    )
    assert (
        "10 in 100 to 24 in 100" in made["consent.md"]
    )  # odds of 1 to 9 become 2.7037 to 9, 23.1 in 100
    assert 'Did it cost $5 or <b onload="x()">more</b> | </script>?' in made["card.md"]
    assert made["form.html"].count("</script>") == 2
    assert "<b " not in made["form.html"]


@pytest.mark.parametrize(
    ("options", "groups", "message"),
    [
        ({"device": "form", "p": "2/3", "q": "1/3"}, {}, "device must have the chances of the plan, .*, got device=form"),
        ({"kind": "Laplace", "device": "die"}, {}, "for Laplace noise be form, got device=die"),
        ({"kind": "number", "device": "curator", "epsilon": 1.0}, {}, "device must be one that people use"),
        ({}, {"sex": ("f", "f")}, "by must be a new column with 2 different values or more"),
        ({}, {"sex": ("f",)}, "by must be a new column with 2 different values or more"),
        ({}, {"report": ("f", "m")}, "by must be a new column with 2 different values or more"),
    ],
)  # fmt: skip
def test_what_the_field_cannot_do_is_refused(
    options: dict[str, Any], groups: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        pages(planned(**options), groups)


@pytest.mark.parametrize(("epsilon", "labels"), [(0.5, 2), (0.1, 5)])
def test_a_device_that_is_too_coarse_is_refused(epsilon: float, labels: int) -> None:
    with pytest.raises(
        ValueError, match=f"a device of 6 outcomes has no protocol for {labels} answers"
    ):
        realised("k-RR", epsilon, 6, labels)


def test_a_kit_is_there_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, left = Path.write_text, [5]

    def full(path: Path, text: str, **options: Any) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device", str(path))
        return write(path, text, **options)

    texts = pages(planned())
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        save(tmp_path / "kit", texts)
    assert list(tmp_path.iterdir()) == []
