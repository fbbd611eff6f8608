"""Tables as surveys, offices and devices leave them, with what is true of a column: read, or asked and then read."""

import bz2
import datetime as dt
import gzip
import lzma
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pandas as pd
from dirty_files import (
    AGES,
    DAYS,
    PAYS,
    ROWS,
    SEXES,
    archive,
    book,
    database,
    far_cell,
    merged_cells,
    parquet,
    rows_that_are_not_there,
    spss,
    stata,
    text,
    zipped_spss,
)  # fmt: skip

from ldpnb.data.reading import Reading, spelled

REFUSED = "refused"


@dataclass(frozen=True)
class Dirty:
    """A file, one of its columns, and what is true of it.

    `truth` is the tally of a category or a date, or the mean of a number with how many are missing, or `REFUSED`.
    `asked` is a pattern of what is asked unless `stated` is; empty if nothing may be asked.
    """

    file: str
    content: Callable[[Path], bytes | None] | bytes
    column: str
    truth: Any
    asked: str
    stated: dict[str, Any]

    def write(self, folder: Path) -> Path:
        """Write the file."""
        path = folder / self.file
        content = self.content if isinstance(self.content, bytes) else self.content(path)
        if content is not None:
            path.write_bytes(content)
        return path


def mean(numbers: Sequence[float | None]) -> tuple[float, int]:
    """Return the mean of numbers and how many are missing."""
    known = [number for number in numbers if number is not None]
    return sum(known) / len(known), len(numbers) - len(known)


def tally(names: Sequence[str | None]) -> dict[str, int]:
    """Return how often each name occurs."""
    return {str(n): names.count(n) for n in names if n is not None}


def months(days: Sequence[dt.date]) -> dict[str, int]:
    """Return how many days lie in each month."""
    return tally([f"{day:%Y-%m}" for day in days])


def dirty(
    file: str, content: Any, column: str, truth: Any, asked: str | None = None, /, **stated: Any
) -> Dirty:
    """Return a file; what is stated is asked for, unless `asked` says what is."""
    words = spelled(Reading(**stated).stated())
    asked = "".join(f"(?=.*{re.escape(word)})" for word in words) if asked is None else asked
    return Dirty(file, content, column, truth, asked, stated)


def workbook(rows: Sequence[Sequence[Any]], *what: Any, **stated: Any) -> Dirty:
    """Return a workbook of one sheet."""
    return dirty("a.xlsx", lambda path: book(path, a=[list(row) for row in rows]), *what, **stated)


def cycled(*words: Any) -> list[Any]:
    """Return words in turn, one a row."""
    return [words[i % len(words)] for i in range(ROWS)]


TOWNS = cycled("Köln", "Gießen", "Würzburg", "Bonn")
CITIES = cycled("Москва", "Казань", "Самара", "Пермь")
COMMA = [f"{p:.2f}".replace(".", ",") for p in PAYS]
WHOLE = [1234 + 41 * i for i in range(ROWS)]
DOTS = [f"{w:,}".replace(",", ".") for w in WHOLE]
SURVEY = text("age,sex", AGES, SEXES)
BOTH = [None if i % 7 == 0 else a for i, a in enumerate(AGES)]
SCALE = [a and 1 + a % 5 for a in BOTH]
MDY = [dt.date(2024, 1 + i % 12, 1 + (5 * i) % 12) for i in range(ROWS)]
PAIR = tally(SEXES)
SIGNED = [-a if a % 2 else a for a in AGES]
CODES = [f"0{a}00" for a in AGES]
LONG = [str(2**53 + a) for a in AGES]
HALVES = mean([w + 0.5 for w in WHOLE])
CYRILLIC = text("city,x", CITIES, AGES, encoding="cp1251")
MIXED = b"".join(cycled(b'{"a": true}\n', b'{"a": 1}\n'))
TITLED = [["Survey"], [], ["age", "x"], *[[a, 1] for a in AGES], ["Total", 60]]
TYPED = [["d", "x"], [f"{DAYS[0]:%d.%m.%Y}", 1], *[[d, 1] for d in DAYS[1:]]]
EARLY = text("id,age", [f"{i},{a}" if a else i for i, a in enumerate(BOTH)])
ROUND = mean([round(p, 2) for p in PAYS])
AGE, AGE_ROWS = mean(AGES), [["age"], *([a] for a in AGES)]


csv = partial(dirty, "a.csv")


def column(
    entries: Sequence[Any], truth: Any, asked: str | None = None, sep: str = ",", **stated: Any
) -> Dirty:
    """Return a file with a column of some entries beside another one."""
    return csv(text(f"it{sep}x", entries, AGES, sep=sep), "it", truth, asked, **stated)


def coded(numbers: Sequence[int | None], code: Any) -> Dirty:
    """Return a file with a column of numbers in which a code stands for the missing ones."""
    return column([code if n is None else n for n in numbers], mean(numbers), missing=code)


KINDS = {
    # encodings
    "cp1252": csv(text("ort;x", TOWNS, AGES, sep=";", encoding="cp1252"), "ort", tally(TOWNS)),
    "utf-16 without a mark": csv(
        text("ort;x", TOWNS, AGES, sep=";", encoding="utf-16-le"), "ort", tally(TOWNS)
    ),
    "cp1251": csv(CYRILLIC, "city", tally(CITIES), encoding="cp1251"),
    "the only encoding that fits": csv(
        text("city,x", cycled("東京", "大阪", "名古屋"), AGES, encoding="shift_jis"),
        "city",
        tally(cycled("東京", "大阪", "名古屋")),
    ),
    "a number beside cp1251": csv(CYRILLIC, "x", AGE),
    "one word of several that reads otherwise": csv(
        text("ort", cycled("Besançon", "Forêt"), encoding="cp1252"),
        "ort",
        tally(cycled("Besançon", "Forêt")),
        r"encoding=cp1252 \(Besançon, Forêt\) or encoding=cp1250 \(Besançon, Foręt\)",
        encoding="cp1252",
    ),
    "accents of their own": csv(
        text("größe,x", cycled("Köln", normalize("NFD", "Köln"), "Bonn"), AGES).replace(
            "ö".encode(), b"o\xcc\x88", 1
        ),
        "größe",
        tally(cycled("Köln", "Köln", "Bonn")),
    ),
    "two files joined": csv(
        text("ort", TOWNS) + text("", TOWNS, encoding="cp1252"), "ort", REFUSED, "UTF-8"
    ),
    "a zero byte": csv(SURVEY.replace(b"m\n", b"m\0\n", 1), "age", AGE),
    # marks of numbers
    "decimal commas": column(COMMA, ROUND, sep=";"),
    "points in groups": column(DOTS, mean(WHOLE), "decimal=.*thousands=", ";", thousands="."),
    "whole numbers beside points in groups": csv(
        text("n;x", DOTS, AGES, sep=";"), "x", AGE, "", thousands=".", decimal=","
    ),
    "points as decimals": column(DOTS, mean([w / 1000 for w in WHOLE]), sep=";", decimal="."),
    "thin spaces": column([f"{w:,}".replace(",", "\u202f") + ",5" for w in WHOLE], HALVES, sep=";"),
    "apostrophes": column([f"{w:,}.50".replace(",", "'") for w in WHOLE], HALVES),
    "groups of two digits": column(
        cycled('"1,23,456"', '"12,34,567"', '"98,765"'), mean(cycled(123456, 1234567, 98765))
    ),
    "powers of ten with decimal commas": column(
        cycled("1,234E-03", "5,678E-02"), mean(cycled(1.234e-3, 5.678e-2)), sep=";"
    ),
    "percent": column([f"{a}%" for a in AGES], AGE, strip="%"),
    "a currency": column([f"CHF {a}.50" for a in AGES], mean([a + 0.5 for a in AGES]), strip="CHF"),
    "in brackets": column(
        [f"({-a})" if a < 0 else a for a in SIGNED],
        mean(SIGNED),
        r"such as '\(25\)'.*strip=\(\) \(take them off, '\(25\)' is -25\)",
        strip="()",
    ),
    "minus behind": column(
        [f"{-a}-" if a < 0 else a for a in SIGNED],
        mean(SIGNED),
        r"strip=- \(take them off, '25-' is -25\)",
        strip="-",
    ),
    "minus behind a currency": column(
        [f"€{-a}-" if a < 0 else f"€{a}" for a in SIGNED],
        mean(SIGNED),
        r"strip=\[",
        strip=["€", "-"],
    ),
    "a currency in brackets": column(
        [f"(€{-a})" if a < 0 else f"€{a}" for a in SIGNED],
        mean(SIGNED),
        r"'€18' is 18",
        strip=["€", "()"],
    ),
    "fewer than five": column(
        [f"<{a}" if a < 20 else a for a in AGES],
        mean([a if a >= 20 else None for a in AGES]),
        'missing=.*"<18"',
        missing=["<18", "<19"],
    ),
    "powers of ten": column([f"{a}e-3" for a in AGES], mean([a / 1000 for a in AGES])),
    "decimal commas alone": csv(text("w", COMMA), "w", ROUND, separator=";"),
    # codes and missing entries
    "words among numbers": coded(BOTH, "k.A."),
    "codes far away": coded(SCALE, 99),
    "negative codes": coded(BOTH, -9),
    "codes of a scale": coded(SCALE, 9),
    "codes in pairs": column(
        [77 if i % 9 == 0 else 88 if i % 9 == 1 else i % 9 for i in range(ROWS)],
        mean([None if i % 9 < 2 else i % 9 for i in range(ROWS)]),
        "missing=.*88.*77",
        missing=[77, 88],
    ),
    "codes near zero": column(
        [a or -1 - i % 2 for i, a in enumerate(BOTH)],
        mean(BOTH),
        "missing=.*-1.*-2",
        missing=[-1, -2],
    ),
    "a code beside another that is stated": dirty(
        "a.csv",
        text("sat,tv", cycled("k.A.", 1, 2, 3, 4, 5), [99 if a is None else a % 5 for a in BOTH]),
        "tv",
        mean([None if a is None else a % 5 for a in BOTH]),
        "missing=99",
        missing=["k.A.", "99"],
    ),
    "a scale up to nine": column([1 + a % 9 for a in AGES], mean([1 + a % 9 for a in AGES])),
    "codes among negative numbers": coded([a and a - 38 for a in BOTH], -999),
    "codes below all numbers": coded([a and 5000 + a for a in BOTH], 99),
    "numbers too large": column([a or "7e400" for a in BOTH], mean(BOTH), missing="inf"),
    "codes that are answers": column(
        [a or 99 for a in BOTH], mean([a or 99 for a in BOTH]), present="99"
    ),
    "dots": coded(BOTH, "."),
    "addresses": column(
        [f"192.168.{a}.100" for a in AGES], tally([f"192.168.{a}.100" for a in AGES])
    ),
    "leading zeros": column(CODES, tally(CODES), kind="category"),
    "long numbers": column(
        LONG, tally(LONG), "more than 15 digits.*kind=category", kind="category"
    ),
    "Namibia": column(cycled("NA", "DE", ""), tally(cycled("NA", "DE", None)), present="NA"),
    "nobody": column(
        cycled("None", "one", "two"), tally(cycled(None, "one", "two")), missing="None"
    ),
    "blanks that do not show": column(
        cycled("Bad Ems", "Bad\u00a0Ems", "Bad  Ems\u200b"), REFUSED, "two values or more"
    ),
    "blank entries": column(cycled("m", " ", "f"), tally(cycled("m", None, "f"))),
    "answers in two cases": column(
        cycled("Yes", "yes", "No"), tally(cycled("yes", "yes", "no")), fold=True
    ),
    "true and 1": dirty("a.jsonl", MIXED, "a", tally(cycled("True", "1")), kind="category"),
    # shape
    "titles": csv(b"Survey 2024\nOffice\n\n" + SURVEY, "age", AGE, skip=3),
    "padded titles": csv(b"Survey 2024,\n,\n" + SURVEY, "age", AGE, skip=2),
    "groups of names": csv(
        b"Person,,Pay\nid,age,net\n" + text("", range(ROWS), AGES, PAYS),
        "age",
        AGE,
        r"skip=1 \(names are in the last\)",
        skip=1,
    ),
    "names of parts below": csv(
        b"id,age,which\n,in years,phone\n" + text("", range(ROWS), AGES, ["phone"] * ROWS),
        "age",
        AGE,
        header=2,
    ),
    "comments": csv(b"# made by a tool\n" + SURVEY, "sex", PAIR, skip=1),
    "no header": csv(text("", AGES, SEXES), "2", PAIR, header=0),
    "units below the header": csv(
        b"age,sex\nin years,letter\n" + text("", AGES, SEXES), "age", AGE, header=2
    ),
    "a total": csv(SURVEY + b"Total,all\n", "sex", PAIR, footer=1),
    "a total first": csv(b"sex,age\nTotal,2000\n" + text("", SEXES, AGES), "age", AGE, header=2),
    "a total above empty rows": csv(SURVEY + b"Total,9\n,\nSource: own,\n", "age", AGE, footer=2),
    "a mean": csv(SURVEY + b"Mean,all\n", "sex", PAIR, footer=1),
    "six rows below": csv(
        text("town,x,age", TOWNS, TOWNS, AGES)
        + b"Gesamtergebnis,,9\n,,\na,,\nb,,\nc,,\nd,,\nQuelle: own,,\n",
        "age",
        AGE,
        footer=6,
    ),
    "a source": csv(SURVEY + b"\nSource: own survey\n", "age", AGE, footer=1),
    "rows that end early": csv(EARLY, "age", mean(BOTH), bad_rows="fill"),
    "early rows left out": csv(EARLY, "age", mean([a for a in BOTH if a]), bad_rows="skip"),
    "a comma in a field": csv(
        text("town,age", ["Bonn" if a else "Bonn, Rhein" for a in BOTH], AGES),
        "age",
        mean([a for a, b in zip(AGES, BOTH, strict=True) if b]),
        bad_rows="skip",
    ),
    "rows in quotes": csv(
        b'"age;sex"\n' + text("", ['"9;m"', '"7;f"'] * 99),
        "",
        tally(["9;m", "7;f"] * 99),
        "quotes off",
        separator="|",
        kind="category",
    ),
    "blanks between fields": csv(text("age sex", AGES, SEXES, sep=" "), "age", AGE, separator=" "),
    "a quote left open": csv(SURVEY.replace(b"m\n", b'"m\n', 1), "age", REFUSED, "quote"),
    "line ends in quotes": csv(text("note,age", ['"one\ntwo"'] * ROWS, AGES), "age", AGE),
    "separators at the ends": csv(text("age;sex;", AGES, SEXES, [""] * ROWS, sep=";"), "sex", PAIR),
    "separators below the header": csv(text("age,sex", AGES, SEXES, [""] * ROWS), "sex", PAIR),
    "names of rows": dirty(
        "a.txt", text("age\tsex", range(ROWS), AGES, SEXES, sep="\t"), "3", PAIR, skip=1, header=0
    ),
    "a name twice": csv(
        text("q,q,age", AGES, SEXES, AGES),
        "q",
        REFUSED,
        "columns are called 'q'.*skip=1 and header=0",
    ),
    "a name twice, numbered": csv(
        text("q,q,age", AGES, SEXES, AGES), "2", PAIR, "no column", skip=1, header=0
    ),
    "sep=": csv(
        b"\xef\xbb\xbfsep=;\r\n" + text("age;sex", AGES, SEXES, sep=";", end="\r\n"), "age", AGE
    ),
    "a byte order mark": csv(
        b"\xef\xbb\xbf" + text("age;größe", AGES, AGES, sep=";", end="\r\n"), "age", AGE
    ),
    "old line ends": csv(text("age,sex", AGES, SEXES, end="\r"), "sex", PAIR),
    "tabs": csv(text("age\tsex", AGES, SEXES, sep="\t"), "sex", PAIR),
    "bars": csv(text("age|sex", AGES, SEXES, sep="|"), "sex", PAIR),
    "a row per value": csv(
        text("age,count", range(20, 30), range(10)),
        "age",
        mean([20 + i for i in range(10) for _ in range(i)]),
        counts="count",
    ),
    "blanks around": csv(text(" age , sex", [f" {a} " for a in AGES], SEXES), "AGE", AGE),
    "users by two columns": csv(
        b"sex,answer,n\nm,yes,1\nm,no,20\nf,yes,30\nf,no,4\n",
        "answer",
        {"yes": 31, "no": 24},
        counts="n",
    ),
    "ninety-nine users": csv(b"age,n\n1,10\n2,12\n3,99\n", "age", (331 / 121, 0), counts="n"),
    "one column without its name": csv(text("age", AGES), "", AGE),
    "one value": csv(b"age\na\na\n", "age", REFUSED, "must have two values or more"),
    "no entries": csv(b"age\n\n", "age", REFUSED, "has no entries"),
    # dates
    "dates with points": column([f"{d:%d.%m.%Y}" for d in DAYS], months(DAYS)),
    "a word among dates": column(
        ["k.A.", *(f"{d:%d.%m.%Y}" for d in DAYS[1:])], months(DAYS[1:]), missing="k.A."
    ),
    "dates for no date": column(
        ["31.12.9999", *(f"{d:%d.%m.%Y}" for d in DAYS[1:])], months(DAYS[1:]), missing="9999-12-31"
    ),
    "American or not": column([f"{d:%m/%d/%Y}" for d in MDY], months(MDY), dates="%m/%d/%Y"),
    "days before months": column([f"{d:%Y-%d-%m}" for d in MDY], months(MDY), "", dates="%Y-%d-%m"),
    "two digits": column([f"{d:%d.%m.%y}" for d in DAYS], months(DAYS), dates="%d.%m.%y"),
    "digits alone": column([f"{d:%Y%m%d}" for d in DAYS], months(DAYS), dates="%Y%m%d"),
    "with time and zone": column([f"{d}T10:00:00Z" for d in DAYS], months(DAYS)),
    "of SAS": column([f"{d:%d%b%Y}:08:00:00".upper() for d in DAYS], months(DAYS)),
    "years first, with points": column([f"{d:%Y.%m.%d}" for d in DAYS], months(DAYS)),
    "of a form": column([f"{d:%Y/%m/%d} 8:00:00 PM GMT+2" for d in DAYS], months(DAYS)),
    "in words": column([f"{d:%d %b %Y}" for d in DAYS], months(DAYS)),
    "times of day": column(cycled("08:30", "12:00"), tally(cycled("08:30", "12:00"))),
    # formats
    "gzip": dirty("a.csv.gz", gzip.compress(SURVEY), "age", AGE),
    "bzip2": dirty("a.csv.bz2", bz2.compress(SURVEY), "age", AGE),
    "xz": dirty("a.csv.xz", lzma.compress(SURVEY), "age", AGE),
    "zip": dirty("a.zip", archive(a_csv=SURVEY, __MACOSX=b"\0\5"), "age", AGE),
    "two files in one": dirty(
        "a.zip", archive(a_csv=SURVEY, b_csv=SURVEY[:20]), "age", AGE, sheet="a.csv"
    ),
    "a name that lies": dirty("a.xls", text("age\tsex", AGES, SEXES, sep="\t"), "age", AGE),
    "a web page": dirty(
        "a.xls", b"<html><table><tr><td>1</td></tr></table></html>", "age", REFUSED, "web page"
    ),
    "a tar archive": dirty(
        "a.tar.gz", gzip.compress(b"\0" * 257 + b"ustar\0" + SURVEY), "age", REFUSED, "tar archive"
    ),
    "a picture": csv(
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 4, "age", REFUSED, "cannot be read"
    ),
    "empty": csv(b"", "age", REFUSED, "empty"),
    "a header alone": csv(b"age,sex\n", "age", REFUSED, "no rows"),
    "records": dirty(
        "a.jsonl",
        b"".join(b'{"age": %d}\n' % a if a else b'{"x": 1}\n' for a in BOTH),
        "age",
        mean(BOTH),
    ),
    "broken records": dirty("a.jsonl", b'{"age": 1}\n{"age": \n', "age", REFUSED, "cannot be read"),
    "a list of records": dirty(
        "a.json", pd.DataFrame({"age": AGES}).to_json(orient="records").encode(), "age", AGE
    ),
    "Stata": dirty("a.dta", stata, "sex", PAIR),
    "Stata with rows that are not there": dirty(
        "a.dta", rows_that_are_not_there, "age", REFUSED, "fewer bytes than"
    ),
    "SPSS in a zip": dirty("a.zip", zipped_spss, "sex", PAIR),
    "codes of words": dirty(
        "a.zip", zipped_spss, "sex", mean([1 + i % 3 for i in range(ROWS)]), "", kind="number"
    ),
    "SPSS": dirty(
        "a.sav", spss, "age", mean([None if i % 10 == 0 else a for i, a in enumerate(AGES)])
    ),
    "Parquet with gaps": dirty(
        "a.parquet", parquet, "age", mean([None if i % 6 == 0 else a for i, a in enumerate(AGES)])
    ),
    "Parquet with decimals": dirty("a.parquet", parquet, "pay", mean(PAYS)),
    "Parquet with dates": dirty("a.parquet", parquet, "day", months(DAYS)),
    "Parquet with dates as numbers": dirty(
        "a.parquet", parquet, "digits", months(DAYS), "", dates="%Y%m%d"
    ),
    "Parquet with answers": dirty("a.parquet", parquet, "own", tally([str(a > 40) for a in AGES])),
    "Parquet with a date beyond all years": dirty(
        "a.parquet", parquet, "end", REFUSED, "out of range"
    ),
    "Parquet with lists": dirty("a.parquet", parquet, "list", REFUSED, "lists or records"),
    "SQLite": dirty("a.db", lambda p: database(p, people={"age": BOTH}), "age", mean(BOTH)),
    "two tables": dirty(
        "a.db", lambda p: database(p, a={"age": AGES}, b={"age": [1]}), "age", AGE, sheet="a"
    ),
    "a workbook": workbook([["age", "sex"], *zip(AGES, SEXES, strict=True)], "age", AGE),
    "a second sheet": dirty(
        "a.xlsx", lambda p: book(p, info=[["read"]], data=AGE_ROWS), "age", AGE, sheet="data"
    ),
    "a workbook with titles": workbook(TITLED, "age", AGE, "skip=2", skip=2, footer=1),
    "errors in cells": workbook(
        [["age", "x"], *[[a or "#DIV/0!", 1] for a in BOTH]], "age", mean(BOTH)
    ),
    "a cell far from all others": dirty(
        "a.xlsx", far_cell, "age", REFUSED, "reaches to XFD1048576.*delete those far"
    ),
    "dates in cells": workbook([["d", "x"], *[[d, 1] for d in DAYS]], "d", months(DAYS)),
    "a word among dates in cells": workbook(
        [["d", "x"], ["k.A.", 1], *[[d, 1] for d in DAYS]], "d", months(DAYS), missing="k.A."
    ),
    "typed dates and others": workbook(TYPED, "d", months(DAYS), "several forms", dates="%d.%m.%Y"),
    "dates for no date in cells": workbook(
        [["d", "x"], [dt.date(1900, 1, 1), 1], *[[d, 1] for d in DAYS]],
        "d",
        months(DAYS),
        missing="1900-01-01",
    ),
    "a code among dates in cells": workbook(
        [["d", "x"], [-9, 1], *[[d, 1] for d in DAYS]], "d", months(DAYS), missing=-9
    ),
    "numbers as text": workbook([["age", "x"], *[[str(a), 1] for a in AGES]], "age", AGE),
    "cells over several rows": dirty(
        "a.xlsx", merged_cells, "sex", tally([SEXES[i // 4] for i in range(ROWS)])
    ),
    "empty rows between others": workbook([["kids", "x"], [1, 3], [], [2, 3]], "kids", (1.5, 1)),
}
