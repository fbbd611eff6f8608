"""Input that was made to do harm is refused in one clear line, or harmless: nothing runs and nothing climbs out."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from demonstration import PARAMETERS, notebook

import ldpnb
from ldpnb import claims, cli
from ldpnb.checks import UsageError
from ldpnb.notebook import figures
from ldpnb.notebook.environment import FIGURES_FOLDER
from ldpnb.notebook.parameters import Parameter
from ldpnb.run import catalogue, execution
from ldpnb.site import charts, sources
from ldpnb.site.inert import require_inert
from ldpnb.sweeps import folder as folders

PACKAGE = Path(ldpnb.__file__).parent
LONG = 10_000_000 * "x"

NAMES = ("../../etc/passwd", "/etc/passwd", "/etc/passwd.ipynb", "{0.__class__}", "$(touch pwned)", "*")
IDS = {name: f"ldpnb: no notebook or claim {name}; `ldpnb list` shows the notebooks\n" for name in NAMES} | {
    "1_demo/../../x": "ldpnb: no notebook or claim 1_demo/../../x",
    "01_line\0.ipynb": r"ldpnb: no notebook or claim '01_line\x00.ipynb' (did you mean",
    "two\nlines": r"ldpnb: no notebook or claim 'two\nlines'",
    "\x1b]0;title\x07": r"ldpnb: no notebook or claim '\x1b]0;title\x07'; `ldpnb list` shows the notebooks" + "\n",
    "\u202eenil_10": r"ldpnb: no notebook or claim '\u202eenil_10'",
    "01_l\u0456ne": "ldpnb: no notebook or claim 01_l\u0456ne (did you mean 01_line?); `ldpnb list` shows the notebooks\n",
    "": "ldpnb:  is ambiguous: 1_demo/01_line, 1_demo/02_broken\n",
    LONG: "ldpnb: no notebook or claim 'xxxx",
}


@pytest.mark.parametrize("identifier", IDS, ids=lambda i: ascii(i[:20]))
def test_an_id_is_a_name_and_never_a_path(said: Callable[..., str], checkout: Path, identifier: str) -> None:
    line = said("show", identifier)
    assert line.startswith(IDS[identifier])
    assert line.count("\n") == 1
    assert len(line) < 1000
    assert not (checkout / "pwned").exists()


PARAMETER = {
    ("int", "__import__('os').getpid()"): "must be of type int",
    ("int", "1e999"): "must be of type int",
    ("int", "9" * 5000): "must be of type int, got x='9999",
    ("int", "0x10"): "must be of type int",
    ("float", "nan"): "must be finite, got x=nan",
    ("float", "1e999"): "must be finite, got x=1e999",
    ("float", "-inf"): "must be finite, got x=-inf",
    ("float", "1\u202e2"): r"must be of type float, got x='1\u202e2'",
    ("float", LONG): "must be of type float, got x='xxxx",
    ("list[float]", "[1, 1e999]"): "must be finite",
    ("list[int]", "[__import__('os')]"): "must be of type list[int]",
    ("list[int]", "[" * 100_000): "must be of type list[int], got x='[[[[",
    ("list[int]", "[" * 90 + "]" * 90): "must be of type list[int]",
    ("list[str]", "(lambda: [])()"): "must be of type list[str]",
    ("list[str]", "{'a': 1}"): "must be of type list[str]",
    ("list[str]", "[x for x in ()]"): "must be of type list[str]",
    ("bool", "1 or True"): "must be of type bool",
    ("str", "\udcff"): r"must be of type str, got x='\udcff'",
}


@pytest.mark.parametrize(("kind", "text"), PARAMETER, ids=lambda t: ascii(t[:20]))
def test_a_parameter_is_converted_and_never_evaluated(kind: str, text: str) -> None:
    with pytest.raises(UsageError) as error:
        Parameter("x", kind, None, "").convert(text)
    assert PARAMETER[kind, text] in str(error.value)
    assert len(str(error.value)) < 300


DIGITS = [("int", "\uff11\uff12", 12), ("float", "\u0661.\uff15", 1.5), ("int", "9007199254740993", 2**53 + 1)]


@pytest.mark.parametrize(("kind", "text", "value"), [*DIGITS, ("int", "1_000", 1000)])
def test_digits_of_any_script_are_the_numbers_they_show(kind: str, text: str, value: float) -> None:
    assert Parameter("x", kind, None, "").convert(text) == value


def test_names_that_only_look_like_a_parameter_are_others(checkout: Path) -> None:
    line = catalogue.find("01_line")
    for name in ("u\u0455ers", "users\u200b", "\uff55sers", "__class__", "users; import os", "users\n=1"):
        with pytest.raises(UsageError, match="has no parameter") as error:
            line.check({name: "1"})
        assert "\n" not in str(error.value)


def test_parameters_beyond_what_a_kernel_can_be_told_are_refused(checkout: Path) -> None:
    with pytest.raises(UsageError, match="parameters must have at most 100,000 characters, got 10,000,013"):
        execution.plan([catalogue.find("01_line")], {"label": LONG}, None)


@pytest.mark.parametrize("folder", ["a\0b", "x" * 300, "taken/below", "loop/x"])
def test_an_output_folder_that_cannot_be_is_refused(checkout: Path, folder: str) -> None:
    (checkout / "taken").touch()
    (checkout / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match=r"output( folder)? cannot be written"):
        execution.plan([catalogue.find("01_line")], {"users": 2}, checkout / folder)


TEXTS = """\
import pandas as pd
from ldpnb.notebook.figures import publish_table
table = pd.DataFrame({"x": label, "y": [len(text) for text in label]})
publish_table(table, "table_1", caption="Texts.")"""
TRICKS = [
    '"; import os; os.mkdir("pwned") #',
    "'''",
    '"""\n1/0',
    "\\",
    '\\"',
    "a\nb\r\n",
    "\x00",
    "{users}",
    "%s %(a)s",
]
TRICKS += ["{0.__class__}", "\\x41\\N{BULLET}", "\x1b[31m", "\u202eabc\u2028", "`id` $(id)", "=1+1"]
TRICKS += ["</script><script>alert(1)</script>"]


def test_whatever_a_text_holds_the_notebook_gets_it_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "a {users} \u00e4 folder"
    (home / "notebooks/1_demo").mkdir(parents=True)
    declared = PARAMETERS.replace('label: str = "a"', 'label: list[str] = ["a"]')
    (home / "notebooks/1_demo/01_line.ipynb").write_text(notebook(declared, TEXTS))
    monkeypatch.setenv(catalogue.HOME_VARIABLE, str(home))
    monkeypatch.setenv(FIGURES_FOLDER, "")
    catalogue.catalogue.cache_clear()
    try:
        (task,) = execution.plan([catalogue.find("01_line")], {"label": TRICKS}, home / "{0} out")
        outcome = execution.execute(task)
    finally:
        catalogue.catalogue.cache_clear()
    assert outcome.error == ""
    assert json.loads((task.figures / "1_demo/01_line/table_1.json").read_text())["parameters"]["label"] == TRICKS
    read = pd.read_csv(task.figures / "1_demo/01_line/table_1.csv", keep_default_na=False, lineterminator="\n")
    assert read["y"].tolist() == [len(text) for text in TRICKS]
    assert "'=1+1" in read["x"].tolist()
    assert not list(tmp_path.rglob("pwned"))


def poisoned(**changes: object) -> bytes:
    return json.dumps(json.loads(notebook("seed: int = 1  # seed", "1")) | changes).encode()


def cell(**parts: object) -> bytes:
    return poisoned(cells=[{"cell_type": "code", "metadata": {}, "outputs": []} | parts])


def tagged(text: str, tag: str = "parameters") -> bytes:
    return notebook(text).replace('"parameters"', f'"{tag}"').encode()


NOTEBOOKS: dict[str, tuple[bytes, str]] = {
    "not JSON": (b"{", "is not a notebook: Expecting property name"),
    "rubbish": (b"\x80\x81\xff\x00", "is not a notebook: 'utf-8' codec"),
    "deep": (b"[" * 100_000, "is not a notebook: maximum recursion depth"),
    "a list": (b"[]", "is not a notebook: list indices"),
    "a number": (b"1", "is not a notebook: 'int' object"),
    "no cells": (b'{"nbformat": 4}', "is not a notebook: it lacks 'cells'"),
    "another format": (poisoned(nbformat=3), "is not a notebook: it has format 3 instead of 4"),
    "a format of code": (poisoned(nbformat="4"), "is not a notebook: it has format '4' instead of 4"),
    "cells of text": (poisoned(cells=["print(1)"]), "is not a notebook"),
    "cells without source": (cell(), "it lacks 'source'"),
    "source of numbers": (cell(source=[1]), "is not a notebook: cell 0 is malformed"),
    "outputs of text": (cell(outputs=["x"], source=""), "is not a notebook"),
    "code for a value": (tagged("x: int = __import__('os').getpid()  # x"), "the value of x must be a literal"),
    "a call for a type": (tagged("x: print(1) = 1  # x"), "needs a type among"),
    "a statement": (tagged("import os"), "line 1 of the parameters cell is not `name: type = literal`"),
    "an attribute": (tagged("a.b: int = 1  # x"), "is not `name: type = literal`"),
    "no Python": (tagged("x: int = ("), "a tagged cell is not Python: '(' was never closed"),
    "a zero byte": (tagged("x: int = 1\0  # x"), "a tagged cell is not Python"),
    "deep code": (tagged("x: int = " + "(" * 5000 + "1"), "a tagged cell is not Python"),
    "claims that are no Python": (tagged("verdicts(", "claims"), "a tagged cell is not Python"),
}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_poisoned_notebook_is_named_and_not_run(said: Callable[..., str], checkout: Path, name: str) -> None:
    content, rule = NOTEBOOKS[name]
    (checkout / "notebooks/evil.ipynb").write_bytes(content)
    catalogue.catalogue.cache_clear()
    line = said("list")
    assert line.startswith("ldpnb: ")
    assert rule in line
    assert line.count("\n") == 1


def test_what_is_no_file_is_no_notebook(checkout: Path) -> None:
    (checkout / "notebooks/folder.ipynb").mkdir()
    (checkout / "notebooks/zero.ipynb").symlink_to("/dev/zero")
    os.mkfifo(checkout / "notebooks/pipe.ipynb")
    catalogue.catalogue.cache_clear()
    assert [n.id for n in catalogue.catalogue()] == ["1_demo/01_line", "1_demo/02_broken"]


def test_a_notebook_of_a_gigabyte_is_not_read(said: Callable[..., str], checkout: Path) -> None:
    with (checkout / "notebooks/huge.ipynb").open("wb") as file:
        file.truncate(2**30)
    catalogue.catalogue.cache_clear()
    assert "is not a notebook: it is larger than 134,217,728 bytes" in said("list")


def test_reading_commands_execute_no_notebook(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = checkout / "executed"
    code = (f"x: str = 'a'  # {{__import__('os').mkdir('{mark}')}}", f"open('{mark}', 'w')", f"!touch {mark}")
    (checkout / "notebooks/1_demo/01_line.ipynb").write_text(notebook(*code))
    monkeypatch.setattr(execution, "_papermill", lambda *_: mark.touch())
    monkeypatch.setattr(claims, "decide", lambda _: claims.Verdict("reproduced", "1 = 1", "identity"))
    monkeypatch.setattr(charts, "bundle", str)
    monkeypatch.setattr(sources, "modules", lambda: ["ldpnb/__init__.py"])
    (checkout / "figures").mkdir()
    columns = f"notebook,{','.join(claims.COLUMNS)}\n"
    (checkout / "figures/verdicts.csv").write_text(columns)
    catalogue.catalogue.cache_clear()
    commands = ("list", "show 01_line", "site", "verdicts --source lecture20", "report", "run 01_lin -p y=1")
    for command in map(str.split, commands):
        monkeypatch.setattr(sys, "argv", ["ldpnb", *command])
        with pytest.raises(SystemExit):
            cli.main()
    capsys.readouterr()
    assert not mark.exists()


MARKUP = {
    "<script>alert(1)</script>": "<script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>": "<script>",
    '<img src="x.png" alt="x" onerror="alert(1)">': "onerror in <img>",
    '<a href="javascript:alert(1)">x</a>': "href in <a>",
    '<a href="java\tscript:alert(1)">x</a>': "href in <a>",
    '<a href=" &#106;avascript:alert(1)">x</a>': "href in <a>",
    '<img alt="x" src="data:text/html,x">': "src in <img>",
    '<iframe src="x.html"></iframe>': "<iframe>",
    '<object data="x"></object>': "<object>",
    "<svg onload=alert(1)></svg>": "<svg>",
    '<form action="//evil.example"><input></form>': "<form>",
    '<meta http-equiv="refresh" content="0;url=//evil.example">': "<meta>",
    '<link rel="stylesheet" href="//evil.example/x.css">': "<link>",
    "<style>@import '//evil.example/x.css'</style>": "<style>",
    '<p style="background:url(//evil.example)">x</p>': "style in <p>",
    "<base href='//evil.example'>": "<base>",
    '<math><annotation-xml encoding="text/html">x</annotation-xml></math>': "<annotation-xml>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>": "<p>",
    "<!-- <b> --!><script>alert(1)</script>": "<script>",
    "<math><mtext><table><mglyph><style><math><img src onerror=alert(1)></style></mglyph></table></mtext></math>": "<mglyph>",
}


@pytest.mark.parametrize("markup", MARKUP)
def test_markup_that_could_do_something_is_refused(markup: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"a page must hold nothing that runs, got {MARKUP[markup]}")):
        require_inert(f"<p>before</p>{markup}")


@pytest.mark.parametrize(
    ("markup", "left"),
    [
        ("<!--><script>alert(1)</script>-->", "alert(1)--&gt;"),
        ("<!DOCTYPE x>", ""),
        ("<![CDATA[<script>]]>", "]]&gt;"),
        ("<?php x ?>", ""),
    ],
)
def test_comments_and_declarations_are_left_out_as_browsers_read_them(markup: str, left: str) -> None:
    assert require_inert(f"<p>before</p>{markup}") == f"<p>before</p>{left}"


OUTPUTS: list[tuple[dict[str, object], str]] = [
    ({"text/html": ["<b>x</b><script>alert(1)</script>"]}, "got <script>"),
    ({"text/markdown": ["<img src=x onerror=alert(1)>"]}, "got onerror in <img>"),
    ({"image/svg+xml": ["<svg onload='alert(1)'/>"], "text/plain": ["x"]}, ""),
    ({"application/javascript": ["alert(1)"], "text/plain": ["<script>alert(1)</script>"]}, ""),
    ({"application/vnd.jupyter.widget-view+json": {"model_id": "x"}, "text/plain": ["x"]}, ""),
]


@pytest.mark.parametrize(("output", "passed"), OUTPUTS, ids=lambda o: next(iter(o))[-8:] if isinstance(o, dict) else "")
def test_the_site_passes_no_script_of_an_output_on(checkout: Path, output: dict[str, object], passed: str) -> None:
    from ldpnb.site.atlas import Atlas
    from ldpnb.site.pages import notebook_page

    path = checkout / "notebooks/1_demo/01_line.ipynb"
    content = json.loads(path.read_text())
    for cell in content["cells"][1:]:
        cell["execution_count"] = 1
    content["cells"][2]["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": output}]
    path.write_text(json.dumps(content))
    catalogue.catalogue.cache_clear()
    line = catalogue.find("01_line")
    if passed:
        rule = re.escape(f"1_demo/01_line: a page must hold nothing that runs, {passed}")
        with pytest.raises(UsageError, match=rule):
            notebook_page(line, [], (None, None), Atlas())
    else:
        page = notebook_page(line, [], (None, None), Atlas())
        assert "<svg onload" not in page
        assert "<script>alert" not in page


DAMAGED = [b"{", b"[]", b"\xff\x00", b"[" * 10**5, b'{"experiment": 1, "grid": {}}', b'{"grid": []}']


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_manifest_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(UsageError, match="is not the folder of a sweep"):
        folders.read_manifest(tmp_path)


FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd", "@SUM(1)", "\t=1", "\r=1", '=HYPERLINK("//evil.example")')


def test_no_text_in_our_csv_files_is_a_formula(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FIGURES_FOLDER, str(tmp_path))
    table = pd.DataFrame({"=x": FORMULAS, "kind": pd.Categorical(FORMULAS), "number": -1.5, "text": "-0.25"})
    figures.publish_table(table, "nb/table", caption="Formulas.")
    folders.write_failures(tmp_path, [({"label": text}, text) for text in FORMULAS])
    for path in (tmp_path / "nb/table.csv", tmp_path / "failures.csv"):
        read = pd.read_csv(path, dtype=str, lineterminator="\n")
        texts = [text for text in (*read.columns, *read.to_numpy().ravel()) if text not in ("-1.5", "-0.25")]
        assert len(texts) >= 2 * len(FORMULAS)
        assert not [text for text in texts if text.startswith(("=", "+", "-", "@", "\t", "\r"))]
    numbers = pd.read_csv(tmp_path / "nb/table.csv", lineterminator="\n")[["number", "text"]]
    assert numbers.to_numpy().tolist() == [[-1.5, -0.25]] * 7


OPTIONS = """
    --ip=0.0.0.0 --ip --ServerApp.ip=0.0.0.0 --LabApp.ip=:: --ServerApp.token= --IdentityProvider.token=
    --ServerApp.password= --NotebookApp.token=x --ServerApp.allow_remote_access=True --ServerApp.allow_origin=*
    --ServerApp.disable_check_xsrf=True --config=mine.py --ServerApp.allow_unauthenticated_access=True
    --PasswordIdentityProvider.hashed_password= --JupyterApp.config_file=x --ServerApp.allow_origin_pat=.*
    --sock=x --sock-mode=0777 --ServerApp.sock=x --gateway-url=http://x --GatewayClient.url=http://x
    --ServerApp.trust_xheaders=True --ServerApp.root_dir=/ --notebook-dir=/ --ServerApp.preferred_dir=/
    --ServerApp.tornado_settings={} --ServerApp.identity_provider_class=x --ServerApp.authorizer_class=x --ServerApp.allow_credentials=True
"""


@pytest.mark.parametrize("option", OPTIONS.split())
def test_jupyterlab_stays_on_this_machine_with_its_token(said: Callable[..., str], monkeypatch, option: str) -> None:
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("JupyterLab was started"))
    refused = f"ldpnb: {option} is refused: here JupyterLab stays on this machine"
    assert said("lab", "--no-browser", option).startswith(refused)


def test_jupyterlab_takes_other_options(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, command: started.append(command))
    options = ["--no-browser", "--port=8899", "--allow-root", "--ServerApp.port_retries=0"]
    monkeypatch.setattr(sys, "argv", ["ldpnb", "lab", *options])
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")
    with pytest.raises(SystemExit):
        cli.main()
    (command,) = started
    assert command[3] == "--ip=127.0.0.1"
    assert command[-4:] == options


NAMES_OF_DANGER = """
    eval exec compile __import__ import_module runpy pickle marshal shelve load read_pickle allow_pickle yaml
    subprocess system popen shell execv spawn ctypes
"""
FORBIDDEN = set(NAMES_OF_DANGER.split())
ALLOWED = {
    ("cli.py", "subprocess"): "`ldpnb check` starts pytest as a list of arguments, on paths from the catalogue",
    ("cli.py", "execv"): "`ldpnb lab` becomes JupyterLab, without a shell, after refusing options that would open it",
    ("run/orphans.py", "ctypes"): "one call of the C library, which Python has no other name for",
    ("run/orphans.py", "execv"): "becomes the kernel that it is told to",
    ("run/kernels.py", "subprocess"): "the type of a process; nothing is started with it",
    ("lazy.py", "import_module"): "the package's own modules, by the names in its stubs",
    ("claims.py", "import_module"): "the modules of the five sources, by the names in its own table",
    ("papers/biswas2022/claims/__init__.py", "import_module"): "its own sections",
    ("papers/bun2022/claims/__init__.py", "import_module"): "its own sections",
    ("papers/companion/claims/__init__.py", "import_module"): "its own sections",
    ("papers/juarez2022/claims/__init__.py", "import_module"): "its own sections",
    ("papers/lopuhaa2020/claims/__init__.py", "import_module"): "its own sections",
    ("papers/lecture20/claims/__init__.py", "import_module"): "its own sections",
    ("run/export.py", "subprocess"): "asks git for the commit, without a shell",
    ("site/explore.py", "subprocess"): "this interpreter on `ldpnb.site.grid`, without a shell",
    ("site/grid.py", "compile"): "the cells of a notebook that `site --play` names, as `run` would run them",
    ("site/grid.py", "exec"): "the same",
    ("sweeps/registry.py", "import_module"): "MODULE:FUNCTION names a user's own code, and its docstring says so",
}


def dangerous(path: Path) -> set[str]:
    """The names in a module through which text could become code, or data objects."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {(node.module or "").partition(".")[0], *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Call):
            names |= {keyword.arg for keyword in node.keywords if keyword.arg}
            called = node.func
            owner = called.value.id if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) else ""
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            names |= {name} if (owner, name) not in (("re", "compile"), ("json", "load")) else set()
    return names & FORBIDDEN


def test_no_text_becomes_code_or_objects_anywhere_in_the_package() -> None:
    found = {(p.relative_to(PACKAGE).as_posix(), name) for p in PACKAGE.rglob("*.py") for name in dangerous(p)}
    assert found == set(ALLOWED)


def test_the_search_for_dangerous_names_finds_them(tmp_path: Path) -> None:
    codes = {"eval('1')": "eval", "import yaml": "yaml", "from os import system": "system", "f(shell=True)": "shell"}
    for code, name in codes.items():
        (tmp_path / "x.py").write_text(code)
        assert dangerous(tmp_path / "x.py") == {name}


def test_no_yaml_is_read_at_all() -> None:
    modules = "ldpnb.cli, ldpnb.run.catalogue, ldpnb.run.execution, ldpnb.sweeps.session"
    code = f"import sys, {modules}; print('yaml' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
