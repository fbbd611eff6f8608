"""Run as a script: everything that computes, where numpy, scipy, pandas, sympy, python-flint and lazy-loader are installed, no more.

Printed is also what was asked for of Jupyter and matplotlib, which an installation that has them would load.
"""

import doctest
import importlib
import pkgutil
import sys
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from pathlib import Path

WITH_THEM = {"numpy", "scipy", "pandas", "sympy", "mpmath", "flint", "lazy_loader", "ldpnb"}
WITH_THEM |= {"dateutil", "pytz", "six", "tzdata"}  # which come with pandas
HEAVY = {"matplotlib", "IPython", "ipywidgets", "jupyter_client", "nbformat", "papermill", "nbval", "pytest"}
ROOMS = ("accuracy", "checks", "data", "designs", "estimators", "mechanisms", "planning", "privacy", "rng", "surveys")


class Missing(MetaPathFinder):
    """Whatever else there is is not installed."""

    def __init__(self):
        self.asked = set()

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        self.asked.add(top)
        if not (top in WITH_THEM or top in sys.stdlib_module_names or top.startswith("_")):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def for_show(module: str) -> bool:
    """Whether a module is of the command line, or draws."""
    text = Path(find_spec(module).origin).read_text(encoding="utf-8")
    return "import click" in text or "from ldpnb.notebook" in text


def main() -> None:
    missing = Missing()
    sys.meta_path.insert(0, missing)

    import ldpnb as ldp

    for name in ldp.__all__:
        getattr(ldp, name)
    readme = Path(ldp.__file__).parents[1] / "README.md"
    examples = doctest.DocTestParser().get_examples(readme.read_text(encoding="utf-8"))
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(doctest.DocTest(examples, {}, "README", None, 0, None))
    for room in ROOMS:
        package = importlib.import_module(f"ldpnb.{room}")
        inside = pkgutil.iter_modules(getattr(package, "__path__", []), f"ldpnb.{room}.")
        modules = [importlib.import_module(found.name) for found in inside if not for_show(found.name)]
        for module in (package, *modules):
            for test in doctest.DocTestFinder().find(module):
                runner.run(test)
    done = runner.summarize()
    print(f"{done.attempted} examples, {done.failed} failed")
    print(f"asked for: {', '.join(sorted(HEAVY & missing.asked)) or 'nothing'}")


if __name__ == "__main__":
    main()
