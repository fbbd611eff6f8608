"""Negative controls of the guard rails: what is changed by hand in a committed result, `make test` finds."""

import dataclasses
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import test_claims
import test_notebooks
from demonstration import notebook
from patience import PATIENCE

import ldpnb
from ldpnb import claims
from ldpnb.run import catalogue, execution
from ldpnb.run import ledger as report
from ldpnb.run.nbval_plugin import alike, compare_folders, untied

ROOT = Path(ldpnb.__file__).parent.parent
REAL = "5_lecture20/01_means"
SOURCE = "lecture20"


@pytest.mark.parametrize("of", catalogue.catalogue(), ids=lambda n: n.id)
def test_every_committed_figure_belongs_to_its_notebook_and_to_its_numbers(of: catalogue.Notebook) -> None:
    assert untied(catalogue.home() / "figures" / of.id, of.path) == []


def test_the_committed_ledger_belongs_to_its_provenance_and_no_figure_to_no_notebook() -> None:
    figures = catalogue.home() / "figures"
    assert untied(figures) == []
    folders = {path.parent for path in figures.rglob("*") if path.is_file()}
    assert folders <= {figures, *(figures / n.id for n in catalogue.catalogue())}


@dataclasses.dataclass(frozen=True)
class Copy:
    """A copy of one committed notebook and its figures, and figures as a fresh run leaves them."""

    notebook: catalogue.Notebook
    figures: Path
    fresh: Path

    def found(self) -> list[str]:
        return untied(self.figures, self.notebook.path) + compare_folders(self.figures, self.fresh)

    def json(self, **changes: object) -> None:
        (path,) = list(self.figures.glob("*.json"))[:1]
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    def one(self, suffix: str) -> Path:
        return min(self.figures.glob(f"*{suffix}"))

    def other(self, suffix: str) -> Path:
        """The same kind of file of another notebook."""
        return min((catalogue.home() / "figures/5_lecture20/02_frequencies").glob(f"*{suffix}"))


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    real = catalogue.find(REAL)
    path = tmp_path / "notebook.ipynb"
    shutil.copyfile(real.path, path)
    for name in ("committed", "fresh"):
        shutil.copytree(catalogue.home() / "figures" / REAL, tmp_path / name)
    return Copy(dataclasses.replace(real, path=path), tmp_path / "committed", tmp_path / "fresh")


def edit_numbers(copy: Copy) -> None:
    path = copy.one(".csv")
    path.write_text(re.sub(r"\d(?=\n\Z)", lambda digit: str((int(digit[0]) + 1) % 10), path.read_text()))


def edit_numbers_and_their_hash(copy: Copy) -> None:
    path = copy.one(".csv")
    table = pd.read_csv(path)
    column = table.select_dtypes("float").columns[0]
    table[column] *= 1.00001
    path.write_text(table.to_csv(index=False))
    about = json.loads(path.with_suffix(".json").read_text())
    about["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_suffix(".json").write_text(json.dumps(about))


def picture_everywhere(copy: Copy) -> None:
    """Put another notebook's picture into the figures and into the notebook."""
    import base64

    own, other = (base64.b64encode(path.read_bytes()).decode() for path in (copy.one(".png"), copy.other(".png")))
    text = copy.notebook.path.read_text().replace("\\n", "")
    assert own in text
    copy.notebook.path.write_text(text.replace(own, other))
    shutil.copyfile(copy.other(".png"), copy.one(".png"))
    shutil.copyfile(copy.other(".pdf"), copy.one(".pdf"))


def drop_row(copy: Copy) -> None:
    copy.one(".csv").write_text("".join(copy.one(".csv").read_text().splitlines(True)[:-1]))


def swap(suffix: str) -> Callable[[Copy], object]:
    return lambda copy: shutil.copyfile(copy.other(suffix), copy.one(suffix))


def rewrite(suffix: str, change: Callable[[bytes], bytes]) -> Callable[[Copy], object]:
    return lambda copy: copy.one(suffix).write_bytes(change(copy.one(suffix).read_bytes()))


def add_figure(copy: Copy) -> None:
    for path in list(copy.figures.glob(f"{copy.one('.png').stem}.*")):
        shutil.copyfile(path, path.with_stem("more"))


def drop_figure(copy: Copy, folder: Path) -> None:
    for path in list(folder.glob(f"{copy.one('.png').stem}.*")):
        path.unlink()


NUMBERS, NO_PROVENANCE = "does not hold the numbers that", "is no provenance"
EDITS: dict[str, tuple[Callable[[Copy], object], str]] = {
    "a digit in the numbers": (edit_numbers, NUMBERS),
    "numbers and their hash": (edit_numbers_and_their_hash, " became "),
    "a row less": (drop_row, "tells of other rows or columns"),
    "the hash": (lambda c: c.json(sha256="0" * 64), NUMBERS),
    "the caption": (lambda c: c.json(caption="Another."), "another caption"),
    "no caption": (lambda c: c.json(caption=" "), "or of no caption"),
    "parameters": (lambda c: c.json(parameters={"epsilon": 9}), "tells of a run with parameters"),
    "a swapped picture": (swap(".png"), "is not a picture that the notebook shows"),
    "a picture swapped here and there": (picture_everywhere, "another picture"),
    "a swapped page": (swap(".pdf"), "is not what"),
    "a page edited": (rewrite(".pdf", lambda content: content + b"%"), "is not what"),
    "a picture cut off": (rewrite(".png", lambda content: content[:-9]), "is not a picture that"),
    "no picture": (lambda c: c.one(".png").unlink(), " has .csv, .json, .pdf"),
    "no page": (lambda c: c.one(".pdf").unlink(), " has .csv, .json, .png"),
    "no provenance": (lambda c: c.one(".json").unlink(), " has .csv, .pdf, .png"),
    "provenance of another kind": (rewrite(".json", lambda _: b"[]"), NO_PROVENANCE),
    "rubbish for provenance": (rewrite(".json", lambda _: bytes(range(256))), NO_PROVENANCE),
    "a figure more": (add_figure, "more.csv is committed but was not made"),
    "a figure not made any more": (lambda c: drop_figure(c, c.fresh), "is committed but was not made"),
    "a figure left out": (lambda c: drop_figure(c, c.figures), "was made but is not committed"),
}


def test_nothing_is_found_where_nothing_was_edited(copy: Copy) -> None:
    assert copy.found() == []


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_figure_is_found(copy: Copy, edit: str) -> None:
    change, message = EDITS[edit]
    change(copy)
    assert any(message in line for line in copy.found()), copy.found()


def test_tables_for_latex_are_tied_to_their_numbers(tmp_path: Path) -> None:
    for name in ("committed", "fresh"):
        (tmp_path / name).mkdir()
        for path in (catalogue.home() / "figures").glob("verdicts.*"):
            shutil.copyfile(path, tmp_path / name / path.name)
    assert untied(tmp_path / "committed") == compare_folders(tmp_path / "committed", tmp_path / "fresh") == []
    table = tmp_path / "committed/verdicts.tex"
    table.write_text(table.read_text().replace("refuted", "reproduced", 1))
    found = compare_folders(tmp_path / "committed", tmp_path / "fresh")
    assert found == ["verdicts.tex is not what verdicts.csv comes with"]


def test_pictures_are_told_apart_and_small_differences_of_drawing_are_not(tmp_path: Path, copy: Copy) -> None:
    from matplotlib.image import imread, imsave

    picture = imread(copy.one(".png"))[..., :3]
    imsave(tmp_path / "shifted.png", (picture + 0.02).clip(0, 1))
    assert alike(copy.one(".png"), tmp_path / "shifted.png")
    assert not alike(copy.one(".png"), copy.other(".png"))
    assert not alike(copy.one(".png"), tmp_path / "absent.png")


def cells(copy: Copy, change: Callable[[dict], object]) -> catalogue.Notebook:
    content = json.loads(copy.notebook.path.read_text())
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            change(cell)
    copy.notebook.path.write_text(json.dumps(content))
    return catalogue._read(copy.notebook.path, copy.notebook.path.parent)


def test_stripped_and_failed_outputs_are_found(copy: Copy) -> None:
    test_notebooks.test_every_cell_was_executed_without_error(copy.notebook)
    error = {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
    for change in (
        lambda cell: cell.update(outputs=[], execution_count=None),
        lambda cell: cell.update(outputs=[]),
        lambda cell: cell.update(outputs=[error], execution_count=1),
    ):
        stripped = cells(copy, change)
        with pytest.raises(AssertionError):
            test_notebooks.test_every_cell_was_executed_without_error(stripped)


def test_a_notebook_without_its_claims_is_found(copy: Copy) -> None:
    shown = {c: [n.id] for n in catalogue.catalogue() for c in n.claims}
    bare = cells(copy, lambda cell: cell.update(source="") if "claims" in cell["metadata"].get("tags", []) else None)
    assert not bare.claims
    lost = {claim: where for claim, where in shown.items() if REAL not in where}
    claim = next(c for c in claims.claims(SOURCE) if c.id not in lost)
    in_one = test_claims.test_a_claim_stands_in_exactly_one_notebook_of_its_source
    for check in (
        lambda: test_notebooks.test_a_result_decides_claims_and_ends_in_a_live_section(bare),
        lambda: in_one(claim, lost),
        lambda: in_one(claim, shown | {claim.id: [REAL, REAL]}),
        lambda: test_claims.test_notebooks_list_registered_claims_only(lost),
    ):
        with pytest.raises(AssertionError):
            check()


LEDGER_EDITS: list[tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = [
    (lambda table: table, ""),
    (
        lambda table: table.assign(status=["open", *table["status"][1:]]),
        r"lecture20/\S+: open, (.+) -> (supported|reproduced), \1",
    ),
    (lambda table: table.iloc[1:], r"lecture20/\S+: absent -> (supported|reproduced), .+"),
    (
        lambda table: pd.concat([table, table.iloc[:1].assign(claim="lecture20/invented")]),
        "lecture20/invented: (supported|reproduced), .+ -> absent",
    ),
]


@pytest.mark.parametrize(("change", "line"), LEDGER_EDITS, ids=["none", "another status", "missing", "invented"])
def test_a_verdict_edited_or_missing_in_the_ledger_is_found(change, line: str, monkeypatch) -> None:
    committed = report.committed_ledger()
    own = committed["claim"].str.startswith(f"{SOURCE}/")
    changed = change(committed[own].reset_index(drop=True))
    monkeypatch.setattr(report, "committed_ledger", lambda: changed)
    assert re.fullmatch(line, "\n".join(report.changes(SOURCE)))


def test_evidence_edited_in_the_ledger_is_found(tmp_path: Path) -> None:
    for path in (catalogue.home() / "figures").glob("verdicts.*"):
        shutil.copyfile(path, tmp_path / path.name)
    text = (tmp_path / "verdicts.csv").read_text()
    (tmp_path / "verdicts.csv").write_text(text.replace("0.5", "0.6", 1))
    assert untied(tmp_path) == ["verdicts.csv does not hold the numbers that verdicts.json tells of"]


def executed(*cells: tuple[str, str | None]) -> str:
    """A notebook of cells with the output that each has stored, or none."""
    content = json.loads(notebook("seed: int = 1  # seed", *(source for source, _ in cells)))
    for number, cell in enumerate(content["cells"][1:], 1):
        cell["execution_count"] = number
    for cell, (_, output) in zip(content["cells"][2:], cells, strict=True):
        said = {"output_type": "execute_result", "execution_count": cell["execution_count"], "metadata": {}}
        cell["outputs"] = [said | {"data": {"text/plain": output}}] if output else []
    return json.dumps(content)


def test_the_tests_command_finds_what_was_changed_in_a_checkout(checkout: Path) -> None:
    (task,) = execution.plan([catalogue.find("01_line")], {}, None)
    assert execution.execute(task).error == ""
    folder, figures = checkout / "notebooks/1_demo", checkout / "figures/1_demo/01_line"
    (folder / "02_broken.ipynb").unlink()
    good, number, stripped = ("1 + seed", "2"), ("1 + seed", "3"), ("1 + seed", None)
    (folder / "02_edited.ipynb").write_text(executed(good, number, stripped, good))
    shutil.copyfile(figures / "figure_1.png", figures / "figure_2.png")
    (figures / "figure_1.csv").write_text("x,y\n0,0\n1,0.5\n2,1\n3,1.6\n")
    shutil.copyfile(ROOT / "pyproject.toml", checkout / "pyproject.toml")
    command = [sys.executable, "-m", "pytest", "-n0", "-rf", "notebooks"]
    result = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=PATIENCE, check=False)
    failed = re.findall(r"^FAILED notebooks/1_demo/(\S+)\.ipynb::(.*?)(?: - .*)?$", result.stdout, re.MULTILINE)
    assert failed == [("01_line", "figure numbers"), ("02_edited", "Cell 2"), ("02_edited", "Cell 3")], result.stdout
    for line in (
        "figure_1.csv does not hold the numbers that figure_1.json tells of",
        "figure_1.csv: y in row 3: 1.6 became 1.5 (1 rows differ)",
        "figure_2 has .png",
    ):
        assert line in result.stdout
