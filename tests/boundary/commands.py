"""Every command with every hostile value in each of its options and arguments, and in places that fail it.

They run in forked processes: notebooks without kernels, JupyterLab and pytest without being started.
"""

import json
import os
import resource
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from demonstration import COMPUTE, PARAMETERS, notebook
from guarded import chance, report, sample, silent
from kinds import shown, words

from ldpnb import claims, cli
from ldpnb.run import catalogue, execution
from ldpnb.site import charts, sources

PATHS = [
    "",
    "nowhere/x",
    "folder",
    "pipe",
    "/dev/full",
    "/dev/zero",
    "a\nb",
    "\u0455",
    "x" * 300,
    "/proc/x",
    "file/below",
]
PATHS += ["-", "loop", "notebooks", "figures", "README.md", "ldpnb", "figures/verdicts.csv", ".git", "file"]
PAIRS = ["", "x", "=1", "epsilon=1", "users=nan", "users=1e30", "users=-1", "label=", "nonsense=1", "users=1,2"]
BASE = {
    "list": [], "get": ["new"], "audit": ["table.csv"], "export": ["bun2022/theorem-5.1", "-o", "exported"], "show": ["01_line"], "inspect": ["ages.csv"], "run": ["01_line"], "plot": ["sweep", "--x", "epsilon", "--y", "mse"],
    "sweep": ["gaps", "-g", "epsilon=1,2", "-r", "2", "-j", "1", "-o", "out"], "check": ["01_line"], "site": ["-o", "pages"],
    "verdicts": ["--source", "lecture20"], "report": [], "lab": ["--no-browser"], "normalise": ["notebooks/1_demo/01_line.ipynb"],
    "download": ["adult", "--url", "http://127.0.0.1:9/adult.data", "--cache", "cache"],
    "plan frequency": ["--users", "1e4", "--epsilon", "1", "--failure", "0.05", "--values", "5"],
    "plan mean": ["--users", "1e4", "--epsilon", "1", "--failure", "0.05"],
    "plan survey": ["--population", "10000", "--epsilon", "1", "--error", "0.1", "--failure", "0.05"],
    "plan questions": ["--weights", "1,1", "--answers", "1000", "--epsilon", "1", "--failure", "0.05"],
    "plan power": ["--answers", "1000", "--gap", "0.1", "--power", "0.8"],
    "plan gap": ["--users", "1e4", "--epsilon", "1", "--failure", "0.05"],
}  # fmt: skip
CHANCE = chance("commands")
MOST_FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
TEXTS = words(CHANCE)
FAILING = ("download", "normalise", "verdicts")
"""No host answers, the notebook is not as a run leaves it, and the checkout's ledger is empty."""

GRIDS = [f"{name}={text}" for name in ("epsilon", "n", "mechanism") for text in TEXTS["grid"]]


def commands() -> Iterator[tuple[str, click.Command]]:
    for name, command in cli.cli.commands.items():
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", one) for inner, one in command.commands.items())
        else:
            yield name, command


def kind_of(option: click.Parameter) -> list[str]:
    """The hostile words of an option."""
    if isinstance(option, click.Option) and option.is_flag:
        return []
    if option.name == "grid":
        return GRIDS
    if option.multiple and option.callback:
        return PAIRS
    if isinstance(option.type, click.Path):
        return PATHS
    numbers = isinstance(option.type, click.types.FuncParamType | click.types.IntParamType | click.types.FloatParamType)
    return TEXTS["number"] if numbers else TEXTS["name"]


def cases() -> Iterator[tuple[str, list[str], str]]:
    """Yield (name, words, situation)."""
    for name, command in commands():
        assert name in BASE, f"a new command {name}: give `BASE` good words of it"
        base = BASE[name]
        for situation in SITUATIONS:
            yield name, [*name.split(), *base], situation
        for option in command.params:
            for word in kind_of(option):
                if isinstance(option, click.Argument):
                    yield name, [*name.split(), word, *base[1:]], ""
                elif option.nargs == 2:
                    yield name, [*name.split(), *base, option.opts[0], word, "1"], ""
                else:
                    yield name, [*name.split(), *without(base, option.opts), f"{option.opts[0]}", word], ""


def without(words: list[str], names: list[str]) -> list[str]:
    """Leave an option and its value out."""
    at = next((i for i, word in enumerate(words) if word in names), None)
    return words if at is None else words[:at] + words[at + 2 :]


def executed(text: str) -> str:
    """Return a notebook as if it had been run."""
    made = json.loads(text)
    for number, cell in enumerate(made["cells"][1:], 1):
        cell["execution_count"] = number
    return json.dumps(made)


def make_checkout(folder: Path) -> None:
    (folder / "notebooks/1_demo").mkdir(parents=True)
    (folder / "notebooks/1_demo/01_line.ipynb").write_text(executed(notebook(PARAMETERS, COMPUTE)))
    (folder / "figures").mkdir()
    columns = f"notebook,{','.join(claims.COLUMNS)}\n"
    for name, text in (
        ("figures/verdicts.csv", columns),
        ("README.md", "# x\n"),
        ("table.csv", "mechanism,epsilon,domain_size,claimed_epsilon\nk-RR,1,4,1\n"),
        ("file", "x"),
        ("ages.csv", "age\n1\n2\n"),
    ):
        (folder / name).write_text(text)
    for name in ("folder/inside", "ldpnb", ".git", "gone"):
        (folder / name).mkdir(parents=True)
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "pipe")


def tree(folder: Path) -> dict[str, bytes]:
    """Return what may not change: everything but `build` and what was asked for."""
    files = (p for p in folder.rglob("*") if p.is_file() and "build" not in p.parts)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


def full() -> None:
    sys.stdout = open("/dev/full", "w")  # noqa: SIM115


def deleted() -> None:
    os.chdir("gone")
    os.rmdir(os.getcwd())


def no_descriptors() -> None:
    used = len(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 2, MOST_FILES))


def no_space() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def read_only() -> None:
    os.environ["LDPNB_HOME"] = "/proc"


SITUATIONS = {"full output": full, "deleted folder": deleted, "no descriptors": no_descriptors, "no space": no_space}
SITUATIONS["nothing there"] = read_only


def said(case: tuple[str, list[str], str]) -> str:
    """Return what is wrong with how a command ends, or nothing; it runs in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        answer = "it ended the test"
        try:
            answer = ended(case)
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        finally:
            os.write(writing, answer.encode(errors="replace"))
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        text = answer.read().decode()
    os.waitpid(child, 0)
    return text


def called(words: list[str], situation: str = "") -> tuple[Any, str, str]:
    """Return how a command ends in a new checkout, and what it says."""
    home = FOLDER / "checkout"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(FOLDER / "clean", home, symlinks=True, ignore=lambda *_: ["pipe"])
    os.mkfifo(home / "pipe")
    os.chdir(home)
    os.environ["LDPNB_HOME"] = str(home)
    code = -1
    sys.argv = ["ldpnb", *words]
    warnings.simplefilter("always")  # a user would see them
    warnings.simplefilter("ignore", ResourceWarning)  # but not those
    with silent() as (out, err):
        if situation:
            SITUATIONS[situation]()
        try:
            cli.main()
        except SystemExit as end:
            code = end.code
    resource.setrlimit(resource.RLIMIT_NOFILE, (MOST_FILES, MOST_FILES))  # what the command left open is not judged
    return code, out.getvalue(), err.getvalue()


def ended(case: tuple[str, list[str], str]) -> str:
    _, words, situation = case
    home = FOLDER / "checkout"
    before = tree(FOLDER / "clean")
    code, told, text = called(words, situation)
    if code not in (0, 1, 2):
        return f"exit {code}: {text[-200:]}"
    if "Traceback" in text + told or "Warning: " in text:
        return f"a traceback or a warning: {text[-200:]}"
    lines = [line for line in text.splitlines() if line and not line.startswith(("Usage:", "Try '"))]
    if code == 2 and len(lines) != 1 and not (lines and lines[0].startswith("Error: ")):
        return f"{len(lines)} lines: {text[:300]!r}"
    if code == 1 and not text and not told:
        return "exit 1 without a word"
    after = tree(home)
    changed = sorted(
        name
        for name in before
        if code and situation != "full output" and name not in words and after.get(name) != before[name]
    )
    left = sorted(name for name in after if name not in before and (code == 2 or ".partial" in name))
    return f"exit {code} with changes: {changed + left}" if changed or left else ""


def _no_run(task: execution.Task, executed: Path, figures: Path) -> None:
    shutil.copy(task.notebook.path, executed)


def prepare() -> None:
    """Let nothing be started, and call every command in this process once, so that the others find all imported."""
    import subprocess

    sources.modules = lambda: ["ldpnb/__init__.py"]
    charts.bundle = str
    execution._papermill = _no_run
    execution._require_kernel = lambda: None
    execution.pool = None
    claims.decide = lambda _: claims.Verdict("reproduced", "1 = 1", "identity")
    os.execv = lambda *_: None
    subprocess.run = lambda *_, **__: subprocess.CompletedProcess([], 0, "", "")
    for name in sorted((name for name, _ in commands()), reverse=True):  # `sweep` before `plot`
        code, _, said = called([*name.split(), *BASE.get(name, [])])
        assert code == (name in FAILING), f"{name}: {said}"
        if name == "sweep":
            shutil.copytree(FOLDER / "checkout/out", FOLDER / "clean/sweep")
        catalogue.catalogue.cache_clear()


def show(case: tuple[str, list[str], str]) -> str:
    return f"{' '.join(shown(word)[1:-1] for word in case[1])} [{case[2]}]"


def main() -> None:
    global FOLDER
    FOLDER = Path(tempfile.mkdtemp())
    make_checkout(FOLDER / "clean")
    prepare()
    report(said, sample(list(cases()), 60, CHANCE), show)


if __name__ == "__main__":
    main()
