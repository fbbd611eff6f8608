"""A source is named wherever readers look for it, with its notebooks and how to cite it.

Somebody who adds a source reads here what is left to write by hand: the names of the tests that
fail say the source and the file.
"""

import re
from collections import Counter

import pytest
import yaml

from ldpnb import claims
from ldpnb.run.catalogue import home

SOURCES = [source for source in claims.sources().values() if source.number]

NUMERALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

COUNTED_IN = (
    "CITATION.cff",
    "README.md",
    "ldpnb/__init__.py",
    "ldpnb/cli.py",
    "ldpnb/site/pages/index.md",
    "notebooks/00_start_here.ipynb",
    "notebooks/99_verdicts.ipynb",
    "paper.bib",
    "paper.md",
    "pyproject.toml",
)
"""Files that say how many sources there are."""

every_source = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.key)


def text_of(file: str) -> str:
    return (home() / file).read_text(encoding="utf-8")


def words_of(title: str) -> set[str]:
    """The words of a title, however it is punctuated."""
    return set(re.findall(r"[^\W_]+", title.lower())) - {"the"}


@every_source
def test_the_bibliography_has_the_source_under_its_key(source: claims.Source) -> None:
    is_there = f"{{{source.key}," in text_of("paper.bib")
    assert is_there, f"paper.bib has no entry {source.key}"


@every_source
def test_citation_names_the_source(source: claims.Source) -> None:
    references = yaml.safe_load(text_of("CITATION.cff"))["references"]

    for reference in references:
        assert {"title", "authors", "type"} <= set(reference)

    titles = [words_of(reference["title"]) for reference in references]
    assert any(words_of(source.title) <= title for title in titles), f"{source.title!r} is missing"


@every_source
def test_a_path_leads_to_the_notebooks_of_the_source(source: claims.Source) -> None:
    is_there = f"]({source.folder}/" in text_of("notebooks/paths.md")
    assert is_there, f"notebooks/paths.md has no link to {source.folder}/"


@pytest.mark.parametrize("file", COUNTED_IN)
def test_the_number_of_sources_is_right(file: str) -> None:
    count = f"{NUMERALS[len(SOURCES) - 1]} sources"
    is_right = count in text_of(file).replace("\n", " ")
    assert is_right, f"write {count} in {file}"


def test_no_two_folders_of_notebooks_have_one_number() -> None:
    folders = [path.name for path in (home() / "notebooks").glob("[0-9]*_*") if path.is_dir()]
    numbers = Counter(name.partition("_")[0] for name in folders)

    taken_twice = [name for name in folders if numbers[name.partition("_")[0]] > 1]
    free = max(int(number) for number in numbers) + 1
    assert not taken_twice, f"give the newer one the number {free}"
