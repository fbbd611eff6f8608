"""Notebooks under tools that know nothing of this project: pytest with nbval, nbconvert, python,
renderers of tables.
"""

import html
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import nbconvert
import pytest

from ldpnb.run.catalogue import catalogue, find, home

QUICK = "5_lecture20/01_means"
LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}
LANGUAGE |= {"nbconvert_exporter": "python", "pygments_lexer": "ipython3"}


def contents() -> dict[str, dict]:
    return {n.id: json.loads(n.path.read_text(encoding="utf-8")) for n in catalogue()}


@pytest.mark.nightly
@pytest.mark.parametrize("name", [n.id for n in catalogue()])
def test_a_notebook_passes_nbval_without_plugin_and_configuration_of_ours(
    name: str, tmp_path: Path
) -> None:
    ours = ("LDPNB_", "JUPYTER_", "PYTEST_")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        find(name).path,
    ]
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, env=plain
    )

    assert result.returncode == 0, result.stdout


def test_what_a_live_section_has_stored_is_what_a_plain_kernel_says_as_text() -> None:
    cells = [
        c
        for content in contents().values()
        for c in content["cells"]
        if "\nlive(" in "\n" + "".join(c["source"])
    ]

    assert cells
    assert {tuple(o["output_type"] for o in c["outputs"]) for c in cells} == {("display_data",)}
    assert {tuple(c["outputs"][0]["data"]) for c in cells} == {("text/plain",)}


def test_tables_keep_every_word_where_a_renderer_takes_their_styles_away() -> None:
    # as GitHub does: no style sheet, no attributes
    tables = [
        o.get("data", {})
        for c in contents().values()
        for cell in c["cells"]
        for o in cell.get("outputs", ())
    ]
    tables = [data for data in tables if "text/html" in data]

    assert tables

    for data in tables:
        bare = re.sub(
            r"<[^>]+>", " ", re.sub(r"(?s)<(style|script).*?</\1>", "", "".join(data["text/html"]))
        )
        words = {
            word for word in "".join(data["text/plain"]).split() if not word.endswith("...")
        } - {"\\"}
        assert words <= set(html.unescape(bare).split())


def test_notebooks_say_their_language_and_no_two_share_a_cell() -> None:
    assert [
        name
        for name, c in contents().items()
        if not c["metadata"]["language_info"].items() >= LANGUAGE.items()
    ] == []

    ids = [cell["id"] for content in contents().values() for cell in content["cells"]]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    "name",
    [n.id if n.id == QUICK else pytest.param(n.id, marks=pytest.mark.nightly) for n in catalogue()],
)
def test_a_notebook_is_a_script_that_runs_and_prints_text(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    body, resources = nbconvert.ScriptExporter().from_filename(find(name).path)
    script = tmp_path / f"script{resources['output_extension']}"
    script.write_text(body, encoding="utf-8")
    for name in [name for name in os.environ if name.startswith("LDPNB_")]:
        monkeypatch.delenv(name)

    monkeypatch.chdir(tmp_path)
    runpy.run_path("script.py")
    said = capsys.readouterr().out
    captions = [
        json.loads(path.read_bytes())["caption"]
        for path in (home() / "figures" / name).glob("*.json")
    ]

    assert all(caption in said for caption in captions)
    assert "text/" not in said, "no output is printed as a dictionary"
    assert " object at " not in said
