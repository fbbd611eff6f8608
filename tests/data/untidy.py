"""Columns of files as offices and surveys leave them, with what is true of each.

A column has the answers of some people, `Untidy.truth`, with None for those who gave none. Its file
writes them in an untidy way. `stated` is what a careful user says of the file, if that is enough to
read it; columns that no option makes right have to be tidied first.
"""

import gzip
import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import openpyxl
import pandas as pd

PEOPLE = 240
RNG = np.random.default_rng(7)

AGES = [int(age) for age in RNG.integers(18, 90, PEOPLE)]
SEXES = [str(sex) for sex in RNG.choice(["f", "m", "d"], PEOPLE)]
PAYS = [round(float(pay), 2) for pay in RNG.normal(2500, 600, PEOPLE)]
SCORES = [int(score) for score in RNG.integers(1, 6, PEOPLE)]
TOWNS = [str(town) for town in RNG.choice(["Łódź", "Kraków", "Gdańsk"], PEOPLE)]
CODES = [str(code) for code in RNG.choice(["01067", "04109", "10115"], PEOPLE)]
DAYS = [date(2024, 1, 1) + timedelta(days=int(day)) for day in RNG.integers(0, 300, PEOPLE)]


@dataclass(frozen=True)
class Untidy:
    """A file, one of its columns, and the answers in it."""

    file: str
    content: bytes
    column: str
    truth: Sequence[Any]
    stated: dict[str, Any] | None = None
    """Options of `Reading` with which the column is right; None if there are none."""
    categories: tuple[str, ...] = ()
    dates: bool = False
    weights: Sequence[int] | None = field(default=None, repr=False)

    @property
    def numbers(self) -> list[float] | None:
        """The answers, if they are numbers."""
        known = [answer for answer in self.truth if answer is not None]
        return None if any(isinstance(answer, str) for answer in known) else known


def text(
    header: Sequence[str], *columns: Sequence[Any], mark: str = ",", encoding: str = "utf-8"
) -> bytes:
    """Return delimited text."""
    lines = [mark.join(header)] if header else []
    for row in zip(*columns, strict=True):
        lines.append(mark.join("" if entry is None else str(entry) for entry in row))
    return "".join(f"{line}\n" for line in lines).encode(encoding)


def workbook(merged: Sequence[str] = (), **sheets: Sequence[Sequence[Any]]) -> bytes:
    """Return a workbook with sheets of rows."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
        for cells in merged:
            sheet.merge_cells(cells)

    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def parquet(**columns: Any) -> bytes:
    """Return a Parquet file."""
    made = io.BytesIO()
    pd.DataFrame(columns).to_parquet(made, index=False)
    return made.getvalue()


def archive(**files: bytes) -> bytes:
    """Return a zip file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)

    return made.getvalue()


def replaced(answers: Sequence[Any], places: int, by: Any) -> list[Any]:
    """Return answers with another entry at every so many places."""
    return [by if place % places == 3 else answer for place, answer in enumerate(answers)]


def comma(number: float) -> str:
    """Return a number with a decimal comma."""
    return str(number).replace(".", ",")


COUNTED = sorted(set(AGES))
TIMES = [AGES.count(age) for age in COUNTED]
GAPS = replaced(AGES, 9, None)
PAIRS = list(zip(AGES, SEXES, strict=True))

UNTIDY = {
    "tidy": Untidy("a.csv", text(["age", "sex"], AGES, SEXES), "age", AGES, {}),
    "tidy names": Untidy("a.csv", text(["age", "sex"], AGES, SEXES), "sex", SEXES, {}),
    "packed by gzip": Untidy(
        "a.csv.gz", gzip.compress(text(["age", "sex"], AGES, SEXES)), "age", AGES, {}
    ),
    "tabs in a file called xls": Untidy(
        "a.xls", text(["age", "sex"], AGES, SEXES, mark="\t"), "sex", SEXES, {}
    ),
    "line ends of old Macs": Untidy(
        "a.csv", text(["age", "sex"], AGES, SEXES).replace(b"\n", b"\r"), "age", AGES, {}
    ),
    "lines that end in a mark": Untidy(
        "a.csv", text(["age", "sex", ""], AGES, SEXES, [""] * PEOPLE, mark=";"), "age", AGES, {}
    ),
    "lines that end in a mark the header lacks": Untidy(
        "a.csv",
        text(["age", "sex"], AGES, SEXES).replace(b"f\n", b"f,\n").replace(b"m\n", b"m,\n"),
        "age",
        AGES,
    ),
    "lines within quotes": Untidy(
        "a.csv",
        text(["word", "score"], ['"one\nand ""two"""'] * PEOPLE, SCORES),
        "score",
        SCORES,
        {},
    ),
    "commas between semicolons": Untidy(
        "a.csv", text(["answer", "age"], ["yes, often"] * PEOPLE, AGES, mark=";"), "age", AGES, {}
    ),
    "names of rows without a title": Untidy(
        "a.txt", text(["age", "sex"], AGES, SEXES).replace(b"\n", b"\n1,")[:-2], "age", AGES
    ),
    "rows that end early": Untidy(
        "a.csv",
        text(["id,age"], ["7" if age == AGES[9] else f"7,{age}" for age in AGES]),
        "age",
        [None if age == AGES[9] else age for age in AGES],
    ),
    "a comma that is not quoted": Untidy(
        "a.csv",
        text(["town", "age"], replaced(["Bonn"] * PEOPLE, 40, "Bonn, Rhein"), AGES),
        "age",
        AGES,
    ),
    "no header": Untidy("a.csv", text([], AGES, SEXES), "1", AGES),
    "remarks above": Untidy(
        "a.csv",
        b"# Exported by an office\n# 2024-11-02\n\n" + text(["age", "sex"], AGES, SEXES, mark=";"),
        "age",
        AGES,
        {"skip": 3},
    ),
    "the mark in a line of its own": Untidy(
        "a.csv",
        b"\xef\xbb\xbfsep=;\n" + text(["age", "sex"], AGES, SEXES, mark=";"),
        "age",
        AGES,
        {"skip": 1},
    ),
    "questions below the header": Untidy(
        "a.csv", text(["Q1", "Q2"], ["Your age?", *AGES], ["Your sex?", *SEXES]), "Q2", SEXES
    ),
    "units below the header": Untidy("a.csv", text(["age"], ["in years", *AGES]), "age", AGES),
    "a total below": Untidy(
        "a.csv",
        text(["region", "pay"], [*SEXES, "Total"], [*PAYS, 3000]),
        "pay",
        PAYS,
        {"footer": 1},
    ),
    "a total among names": Untidy(
        "a.csv",
        text(["region", "pay"], [*SEXES, "Total"], [*PAYS, 3000]),
        "region",
        SEXES,
        {"footer": 1},
    ),
    "a source below": Untidy(
        "a.csv",
        text(["region", "pay"], SEXES, PAYS) + b"\nSource: own survey\n",
        "pay",
        PAYS,
        {"footer": 1},
    ),
    "a name twice": Untidy(
        "a.csv", text(["q", "q", "age"], SCORES, SCORES[::-1], AGES), "q", SCORES
    ),
    "a row for each value": Untidy(
        "a.csv",
        text(["age", "count"], COUNTED, TIMES),
        "age",
        COUNTED,
        {"counts": "count"},
        weights=TIMES,
    ),
    "cp1250": Untidy(
        "a.csv", text(["town"], TOWNS, encoding="cp1250"), "town", TOWNS, {"encoding": "cp1250"}
    ),
    "utf-16": Untidy(
        "a.txt",
        text(["größe", "alter"], PAYS, AGES, mark="\t", encoding="utf-16"),
        "größe",
        PAYS,
        {"encoding": "utf-16"},
    ),
    "decimal commas": Untidy(
        "a.csv",
        text(["pay", "sex"], map(comma, PAYS), SEXES, mark=";"),
        "pay",
        PAYS,
        {"decimal": ","},
    ),
    "decimal commas alone": Untidy(
        "a.csv",
        text(["pay"], map(comma, PAYS)),
        "pay",
        PAYS,
        {"separator": ";", "decimal": ","},
    ),
    "points between thousands": Untidy(
        "a.csv",
        text(["people"], [f"{age * 123:,}".replace(",", ".") for age in AGES]),
        "people",
        [age * 123 for age in AGES],
        {"thousands": "."},
    ),
    "three decimals": Untidy(
        "a.csv",
        text(["value"], [f"{age / 8:.3f}" for age in AGES]),
        "value",
        [age / 8 for age in AGES],
        {"decimal": "."},
    ),
    "commas between thousands": Untidy(
        "a.csv",
        text(["pay", "sex"], [f'"{pay:,.2f}"' for pay in PAYS], SEXES),
        "pay",
        PAYS,
        {"thousands": ","},
    ),
    "blanks between thousands that do not break": Untidy(
        "a.csv",
        text(["people"], [f"{age * 123:,}".replace(",", "\u00a0") for age in AGES]),
        "people",
        [age * 123 for age in AGES],
        {"thousands": " "},
    ),
    "apostrophes between thousands": Untidy(
        "a.csv",
        text(["people"], [f"{age * 123:,}".replace(",", "\u2019") for age in AGES]),
        "people",
        [age * 123 for age in AGES],
        {"thousands": "'"},
    ),
    "minus signs and powers of ten": Untidy(
        "a.csv",
        text(["change"], [f"{pay - 2500:.6e}".replace("-", "\u2212") for pay in PAYS]),
        "change",
        [float(f"{pay - 2500:.6e}") for pay in PAYS],
        {},
    ),
    "percent": Untidy("a.csv", text(["share"], [f"{age}%" for age in AGES]), "share", AGES),
    "two units": Untidy(
        "a.csv",
        text(["height"], [f"{age + 100} cm" if age % 2 else f"{age / 100 + 1} m" for age in AGES]),
        "height",
        [age + 100 for age in AGES],
    ),
    "flags beside numbers": Untidy(
        "a.csv", text(["value"], replaced(AGES, 9, "45 b")), "value", replaced(AGES, 9, 45)
    ),
    "a code in the range": Untidy(
        "a.csv",
        text(["age"], replaced(AGES, 9, 199)),
        "age",
        replaced(AGES, 9, None),
        {"missing": "199"},
    ),
    "99 in the range": Untidy(
        "a.csv",
        text(["age"], replaced(AGES, 9, 99)),
        "age",
        replaced(AGES, 9, None),
        {"missing": "99"},
    ),
    "-9 in the range": Untidy(
        "a.csv",
        text(["score"], replaced(SCORES, 9, -9)),
        "score",
        replaced(SCORES, 9, None),
        {"missing": "-9"},
    ),
    "words for no answer": Untidy(
        "a.csv",
        text(["age"], replaced(AGES, 9, "k.A.")),
        "age",
        replaced(AGES, 9, None),
        {"missing": "k.A."},
    ),
    "points for no answer": Untidy(
        "a.csv",
        text(["age", "x"], replaced(AGES, 9, "."), AGES),
        "age",
        replaced(AGES, 9, None),
        {"missing": "."},
    ),
    "gaps": Untidy("a.csv", text(["age", "sex"], GAPS, SEXES), "age", GAPS, {}),
    "NA that is Namibia": Untidy(
        "a.csv",
        text(["country"], replaced(["DE", "NL"] * (PEOPLE // 2), 9, "NA")),
        "country",
        replaced(["DE", "NL"] * (PEOPLE // 2), 9, "NA"),
        {"missing": ""},
    ),
    "None that is an answer": Untidy(
        "a.csv",
        text(["pets"], replaced(SEXES, 9, "None")),
        "pets",
        replaced(SEXES, 9, "None"),
        {},
        categories=("f", "m", "d", "None"),
    ),
    "answers in two cases": Untidy(
        "a.csv",
        text(["smokes"], replaced(["yes", "no"] * 120, 9, "Yes")),
        "smokes",
        replaced(["yes", "no"] * 120, 9, "yes"),
    ),
    "postcodes": Untidy(
        "a.csv", text(["plz"], CODES), "plz", CODES, {}, categories=("01067", "04109", "10115")
    ),
    "dates": Untidy("a.csv", text(["day"], DAYS), "day", [f"{d:%Y-%m}" for d in DAYS], dates=True),
    "a workbook": Untidy(
        "a.xlsx",
        workbook(a=[["age", "sex"], *PAIRS]),
        "age",
        AGES,
        {},
    ),
    "a workbook with titles and a source": Untidy(
        "a.xlsx",
        workbook(
            ["A1:B1", "A3:B3"],
            a=[["A survey"], [], ["Person"], ["age", "sex"], *PAIRS, [], ["Source: own survey"]],
        ),
        "age",
        AGES,
        {"skip": 3, "footer": 1},
    ),
    "the second sheet": Untidy(
        "a.xlsx",
        workbook(info=[["Read me"]], data=[["age", "sex"], *PAIRS]),
        "sex",
        SEXES,
        {"sheet": "data"},
    ),
    "numbers as text in a workbook": Untidy(
        "a.xlsx",
        workbook(a=[["pay"], *[[comma(pay)] for pay in PAYS]]),
        "pay",
        PAYS,
        {"decimal": ","},
    ),
    "gaps and truth values in a workbook": Untidy(
        "a.xlsx",
        workbook(
            a=[["age", "own"], *[[age, score > 2] for age, score in zip(GAPS, SCORES, strict=True)]]
        ),
        "own",
        [str(score > 2) for score in SCORES],
        {},
    ),
    "cells over several rows": Untidy(
        "a.xlsx",
        workbook(
            ["A2:A5"], a=[["sex", "age"], *[[sex, 9] for sex in [SEXES[0], None, None, None]]]
        ),
        "sex",
        [SEXES[0]] * 4,
    ),
    "dates in a workbook": Untidy(
        "a.xlsx",
        workbook(a=[["day"], *[[day] for day in DAYS]]),
        "day",
        [f"{d:%Y-%m}" for d in DAYS],
        dates=True,
    ),
    "typed columns": Untidy(
        "a.parquet",
        parquet(age=pd.array(GAPS, dtype="Int64"), list=[[age] for age in AGES]),
        "age",
        GAPS,
        {},
    ),
    "decimals of Parquet": Untidy(
        "a.parquet", parquet(pay=[Decimal(str(pay)) for pay in PAYS]), "pay", PAYS, {}
    ),
    "categories of Parquet": Untidy(
        "a.parquet", parquet(sex=pd.Categorical(SEXES)), "sex", SEXES, {}
    ),
    "lists of Parquet": Untidy(
        "a.parquet", parquet(list=[[age] for age in AGES]), "list", [str([age]) for age in AGES]
    ),
    "an archive": Untidy("a.zip", archive(**{"a.csv": text(["age"], AGES)}), "age", AGES),
    "records": Untidy("a.json", b'[{"age": 1}, {"age": 2}]', "age", [1, 2]),
    "a database": Untidy("a.db", b"SQLite format 3\0" + bytes(90), "age", AGES),
    "a header alone": Untidy("a.csv", b"age,sex\n", "age", [0, 1]),
    "nothing": Untidy("a.csv", b"", "age", [0, 1]),
}
