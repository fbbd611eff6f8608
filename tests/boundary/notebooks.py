"""Every parameter of every notebook with every hostile word: refused at once, or run to its end, or ended by one line."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import guarded
from guarded import chance, report, sample, silent
from kinds import shown, words

from ldpnb.checks import UsageError
from ldpnb.run import catalogue, execution

Case = tuple[catalogue.Notebook, str, Any]


CHANCE = chance("notebooks")
TEXTS = words(CHANCE)


def hostile(parameter: catalogue.Parameter) -> list[str]:
    if parameter.type.startswith("list"):
        return TEXTS["list"]
    return TEXTS["number"] if parameter.type in ("int", "float") else TEXTS["name"]


def cases() -> Iterator[Case]:
    for notebook in catalogue.catalogue():
        for parameter in notebook.parameters:
            yield from ((notebook, parameter.name, word) for word in hostile(parameter))


def refused(case: Case) -> str | None:
    """Return what is wrong with how a word is refused before anything runs, or None if it is accepted."""
    notebook, name, word = case
    try:
        notebook.check({name: word})
    except UsageError as error:
        return "" if name in str(error) and "\n" not in str(error) else f"unclear: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return None


def said(case: Case) -> str:
    """Return what is wrong with a run of the notebook's cells, or nothing."""
    notebook, name, word = case
    early = refused(case)
    if early is not None:
        return early
    given = notebook.check({name: word})
    figures = Path(tempfile.mkdtemp())
    os.environ.update(execution.kernel_environment(figures, given))
    os.chdir(notebook.path.parent)
    child = os.fork()
    if child == 0:
        said = _run(notebook, given)
        (figures / "said").write_text(said)
        os._exit(0)
    os.waitpid(child, 0)
    text = (figures / "said").read_text() if (figures / "said").exists() else "the process died"
    shutil.rmtree(figures)
    return text


def _run(notebook: catalogue.Notebook, given: dict[str, Any]) -> str:
    from IPython.core.interactiveshell import InteractiveShell

    with silent():
        shell = InteractiveShell.instance()
        for cell in json.loads(notebook.path.read_text())["cells"]:
            if cell["cell_type"] != "code":
                continue
            result = shell.run_cell("".join(cell["source"]))
            error = result.error_before_exec or result.error_in_exec
            if error is not None:
                sound = isinstance(error, ValueError | TypeError) and not str(error).count("\n")
                known = sound or type(error).__module__.startswith("ldpnb")
                return "" if known else f"{type(error).__name__}: {error}"
            if "parameters" in cell["metadata"].get("tags", []):
                shell.push(given)
    return ""


def show(case: Case) -> str:
    return f"{case[0].id} {case[1]}={shown(case[2])}"


def main() -> None:
    import ldpnb.notebook.figures
    import ldpnb.notebook.live
    import ldpnb.notebook.verdicts  # noqa: F401

    every = list(cases())
    # a run takes seconds, and a refusal nothing
    chosen = every if guarded.THOROUGH else [case for case in every if refused(case) is not None]
    guarded.SECONDS = float(os.environ.get("LDPNB_SECONDS", 30))
    only = sys.argv[1:]
    report(said, [case for case in sample(chosen, 600, CHANCE) if not only or case[0].id.startswith(tuple(only))], show)


if __name__ == "__main__":
    main()
