"""Run as a script: everything that computes, where numpy, scipy and pandas are installed and nothing else.

With the argument ``installed`` the rest may be imported; printed is then what of Jupyter and matplotlib was.
"""

import doctest
import importlib
import pkgutil
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path

WITH_THEM = {"numpy", "scipy", "pandas", "dateutil", "pytz", "six", "tzdata", "ldpnb"}
HEAVY = {"matplotlib", "IPython", "ipywidgets", "jupyter_client", "nbformat", "papermill", "nbval", "pytest"}
ROOMS = ("accuracy", "checks", "data", "designs", "estimators", "mechanisms", "planning", "privacy", "rng")
NOT_COMPUTING = {"ldpnb.planning.command"}


class Missing(MetaPathFinder):
    """Whatever else there is is not installed."""

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if not (top in WITH_THEM or top in sys.stdlib_module_names or top.startswith("_")):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


if "installed" not in sys.argv:
    sys.meta_path.insert(0, Missing())

import ldpnb as ldp  # noqa: E402
from ldpnb.checks import UsageError  # noqa: E402

for name in ldp.__all__:
    getattr(ldp, name)
readme = Path(ldp.__file__).parents[1] / "README.md"
examples = doctest.DocTestParser().get_examples(readme.read_text(encoding="utf-8"))
runner = doctest.DocTestRunner(verbose=False)
runner.run(doctest.DocTest([e for e in examples if "decide(" not in e.source], {}, "README", None, 0, None))
for room in ROOMS:
    package = importlib.import_module(f"ldpnb.{room}")
    inside = [found.name for found in pkgutil.iter_modules(getattr(package, "__path__", []), f"ldpnb.{room}.")]
    for module in {room: package, **{n: importlib.import_module(n) for n in inside if n not in NOT_COMPUTING}}.values():
        for test in doctest.DocTestFinder().find(module):
            runner.run(test)
done = runner.summarize()
print(f"{done.attempted} examples, {done.failed} failed")
print(f"loaded: {', '.join(sorted(HEAVY & set(sys.modules))) or 'nothing'}")
if "installed" not in sys.argv:
    try:
        ldp.decide("bun2022/theorem-5.1")
    except UsageError as error:
        print(error)
