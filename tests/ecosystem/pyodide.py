"""Run as a script: import all that computes, where notebooks cannot be run, and as a browser's Python would.

Pyodide has no lzma, and starts no process. A notebook needs IPython to be shown, which is asked for then and not before.
"""

import builtins
import importlib
import pkgutil
import sys
from importlib.abc import MetaPathFinder

RUNS = ("jupyterlab", "papermill", "nbval", "nbconvert", "nbformat", "IPython", "ipykernel", "jupyter_client")
LACKED = ("lzma", "_lzma")
PROCESSES = ("multiprocessing", "subprocess")
ELSEWHERE = ("run", "sweeps", "site", "jupyter", "cli", "__main__")
"""What runs notebooks, makes pages, or is the command line."""


class Missing(MetaPathFinder):
    """Whatever runs notebooks is not installed."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in (*RUNS, *LACKED):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def of_this_package(usual):
    """Refuse ldpnb, but not the libraries beneath, what starts processes."""

    def import_(name, given=None, *more, **named):
        if name.partition(".")[0] in PROCESSES and str((given or {}).get("__name__")).partition(".")[0] == "ldpnb":
            raise ModuleNotFoundError(f"No module named {name!r} in a browser", name=name)
        return usual(name, given, *more, **named)

    return import_


def modules():
    import ldpnb

    for found in pkgutil.iter_modules(ldpnb.__path__, "ldpnb."):
        if found.name.split(".")[1] not in ELSEWHERE:
            yield found.name
            if found.ispkg:
                inside = importlib.import_module(found.name).__path__
                yield from (deep.name for deep in pkgutil.walk_packages(inside, f"{found.name}.", onerror=failed))


def failed(name):
    raise ImportError(f"{name} cannot be imported")


def main() -> None:
    for name in LACKED:
        sys.modules.pop(name, None)  # which Python itself loads where it can
    sys.meta_path.insert(0, Missing())
    builtins.__import__ = of_this_package(builtins.__import__)
    names = list(modules())
    for name in names:
        importlib.import_module(name)
    print(f"{len(names)} modules")


if __name__ == "__main__":
    main()
