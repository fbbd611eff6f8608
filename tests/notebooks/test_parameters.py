"""A parameter takes the values that its rule allows, and refuses others by naming the rule."""

import sys
from pathlib import Path
from typing import Any

import pytest

from ldpnb.checks import UsageError
from ldpnb.notebook.parameters import Parameter, checked, declared_parameters

LARGEST = sys.float_info.max


@pytest.mark.parametrize(
    ("interval", "inside", "outside"),
    [
        ("(0, 1]", [0.001, 1.0], [0.0, -0.5, 1.001]),
        ("[0, 1)", [0.0, 0.999], [-0.001, 1.0]),
        ("(0, 1)", [0.5], [0.0, 1.0]),
        ("[-2, 1.5]", [-2.0, 1.5], [-2.001, 1.501]),
        ("[1, inf)", [1.0, 1e300], [0.999]),
    ],
)
def test_a_number_must_lie_in_its_interval_whose_ends_belong_to_it_or_not(
    interval: str, inside: list[float], outside: list[float]
) -> None:
    one = Parameter("rate", "float", 0.5, f"{interval}; sampling rate")
    several = Parameter("rate", "list[float]", [0.5], f"{interval}; sampling rates")
    for value in inside:
        assert one.convert(str(value)) == value
    assert several.convert(inside) == inside

    for value in outside:
        with pytest.raises(UsageError) as refused:
            one.convert(value)
        assert str(refused.value) == f"rate must lie in {interval}, got rate={value}"
        with pytest.raises(UsageError, match="rate must lie in"):
            several.convert([*inside, value])


@pytest.mark.parametrize("value", ["1e309", "nan", "inf", str(10**400)])
def test_a_number_must_be_finite(value: str) -> None:
    with pytest.raises(UsageError, match=r"rate must be (finite|of type float)"):
        Parameter("rate", "float", 0.5, "").convert(value)
    assert Parameter("rate", "float", 0.5, "").convert(repr(LARGEST)) == LARGEST


def test_a_word_must_be_one_of_those_that_are_listed() -> None:
    parameter = Parameter("unknown", "str", "error", "{error, missing}; what becomes of it")
    assert parameter.convert("missing") == "missing"
    with pytest.raises(UsageError) as refused:
        parameter.convert("mising")
    assert str(refused.value).startswith("unknown must be one of error, missing, got ")
    assert "did you mean missing?" in str(refused.value)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_path_becomes_absolute_and_must_exist(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "answers.csv").write_text("a\n")
    parameter = Parameter("answers", "str", "", f"{kind}; of your survey")

    for given in ("answers.csv", "./answers.csv", "~/answers.csv"):
        assert Path(parameter.convert(given)) == tmp_path / "answers.csv"
    assert parameter.convert("") == ""
    with pytest.raises(UsageError, match=r"answers must be a file, got answers='other\.csv'"):
        parameter.convert("other.csv")
    assert Parameter("answers", "str", "", "a title").convert("other.csv") == "other.csv"


@pytest.mark.parametrize(
    ("kind", "value", "converted"),
    [
        ("int", 3.0, 3),
        ("float", 3, 3.0),
        ("bool", True, True),
        ("bool", " false ", False),
        ("str", "3", "3"),
        ("list[int]", "4", [4]),
        ("list[int]", "[4, 5e1]", [4, 50]),
        ("list[float]", (1, 2.5), [1.0, 2.5]),
        ("list[str]", "[2020, 'b']", ["2020", "b"]),
        ("list[str]", "a", ["a"]),
    ],
)
def test_a_value_becomes_the_declared_type(kind: str, value: Any, converted: Any) -> None:
    found = Parameter("x", kind, None, "").convert(value)
    assert found == converted
    assert type(found) is type(converted)
    if isinstance(found, list):
        assert [type(entry) for entry in found] == [type(entry) for entry in converted]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", 2.5),
        ("int", True),
        ("float", False),
        ("bool", 1),
        ("str", 3),
        ("str", "\ud800"),
        ("list[int]", [1, 2.5]),
        ("list[str]", [1.5]),
        ("list[int]", 4),
    ],
)
def test_a_value_of_another_type_is_refused_with_the_type(kind: str, value: Any) -> None:
    with pytest.raises(UsageError) as refused:
        Parameter("x", kind, None, "").convert(value)
    assert str(refused.value).startswith(f"x must be of type {kind}, got x=")


def test_a_list_may_be_empty_only_if_it_is_so_by_default() -> None:
    assert Parameter("sizes", "list[int]", [], "").convert("[]") == []
    with pytest.raises(UsageError, match=r"sizes must have an entry, got sizes=\[\]"):
        Parameter("sizes", "list[int]", [1], "").convert("[]")


def test_parameters_are_declared_in_the_order_of_their_lines() -> None:
    cell = "users: int = 10_000  # [1, 1e9]; people\nrates: list[float] = [0.1, 1]  # rates\n"
    assert declared_parameters(cell, "example") == (
        Parameter("users", "int", 10_000, "[1, 1e9]; people"),
        Parameter("rates", "list[float]", [0.1, 1], "rates"),
    )


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("users: int = 10", "users needs a type among int, float, str, bool or list"),
        ("users = 10  # people", "users needs a type"),
        ("users: list[bytes] = []  # people", "users needs a type"),
        ("users: int = 2 * n  # people", r"the value of users must be a literal, got 2 \* n"),
    ],
    ids=["no meaning", "no type", "a list of no type", "no literal"],
)
def test_a_declaration_that_lacks_something_is_named(line: str, rule: str) -> None:
    with pytest.raises(UsageError, match=f"example: {rule}"):
        declared_parameters(line, "example")


def test_a_name_that_is_not_declared_is_refused_with_the_nearest_and_all_that_are() -> None:
    declared = [Parameter("epsilon", "float", 1.0, ""), Parameter("users", "int", 10, "")]
    assert checked(declared, {"users": "12"}, "example") == {"users": 12}
    assert checked(declared, {}, "example") == {}
    with pytest.raises(UsageError) as refused:
        checked(declared, {"epsilom": 1.0}, "example")
    assert str(refused.value).startswith("example has no parameter epsilom")
    assert str(refused.value).endswith("; it has epsilon, users")
    assert "did you mean epsilon?" in str(refused.value)

    with pytest.raises(UsageError, match="it has none"):
        checked([], {"epsilon": 1.0}, "example")
