"""What can be swept: plain functions whose keyword arguments are an experiment's parameters.

`ldpnb.sweeps.experiments` holds the companion's own. Any other importable function of the same form can be used as
``module:function``; this runs its module, so such a name must be trusted like code. Its annotations (int, float, str,
bool or a Literal of words), defaults and numpydoc docstring are its specification.
"""

import ast
import hashlib
import importlib
import importlib.util
import inspect
import platform
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ldpnb import __version__
from ldpnb.checks import UsageError, nearest, shown
from ldpnb.notebook.parameters import Parameter

EXPERIMENTS: Mapping[str, str] = {
    name: f"ldpnb.sweeps.experiments:{name}" for name in ("frequencies", "sampling", "gaps")
}
"""The companion's experiments: name to ``module:function``."""

_TYPES = (int, float, str, bool)
_GIVEN = ("repetitions", "rng")


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment and its specification."""

    id: str
    title: str
    parameters: tuple[Parameter, ...]
    function: Callable[..., Any]

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by its name; if there is none, the nearest is suggested."""
        known = {parameter.name: parameter for parameter in self.parameters}
        if name not in known:
            has = ", ".join(known)
            raise UsageError(f"{self.id} has no parameter {shown(name)}{nearest(name, tuple(known))}; it has {has}")
        return known[name]


@cache
def find(identifier: str) -> Experiment:
    """Return an experiment by its name or as ``module:function``.

    Raises
    ------
    UsageError
        If there is none, or the function is not of the form of an experiment.

    Examples
    --------
    >>> [parameter.name for parameter in find("sampling").parameters]
    ['epsilon', 'sampling_rate', 'n', 'domain_size']
    """
    if identifier not in EXPERIMENTS and ":" not in identifier:
        near = nearest(identifier, tuple(EXPERIMENTS))
        raise UsageError(f"no experiment {shown(identifier)}{near}; `ldpnb sweep --list` shows all")
    module, _, name = EXPERIMENTS.get(identifier, identifier).partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise UsageError(f"no experiment {shown(identifier)}: {shown(str(error))}") from None
    return _specified(identifier, function)


def _specified(identifier: str, function: Callable[..., Any]) -> Experiment:
    documentation, hints = inspect.getdoc(function) or "", get_type_hints(function)
    meanings, parameters = _meanings(documentation), []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in _GIVEN:
            continue
        choices = get_args(hints.get(name)) if get_origin(hints.get(name)) is Literal else ()
        kind = str if choices else hints.get(name)
        if kind not in _TYPES or parameter.default is parameter.empty or name not in meanings:
            kinds = ", ".join(k.__name__ for k in _TYPES)
            raise UsageError(
                f"{identifier}: parameter {name} needs a type among {kinds}, a default and a line in the docstring"
            )
        parameters.append(Parameter(name, kind.__name__, parameter.default, meanings[name], choices))
    return Experiment(identifier, documentation.partition("\n")[0], tuple(parameters), function)


def _meanings(documentation: str) -> dict[str, str]:
    """Return the descriptions in the Parameters section of a numpydoc docstring."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", documentation, re.DOTALL | re.MULTILINE)
    entries = re.findall(r"^(\w+) : [^\n]*\n((?:[ ]+[^\n]*\n?)+)", section.group(1) if section else "", re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


@cache
def provenance(identifier: str) -> dict[str, str]:
    """Return what determines an experiment's numbers besides its parameters: its code and the versions used.

    The code includes its module and every module of the same package that it imports, directly or indirectly.
    """
    function = find(identifier).function
    digest = hashlib.blake2b(digest_size=8)
    for name, source in sorted(_sources(function.__module__).items()):
        digest.update(name.encode() + b"\0" + source + b"\0")
    python = ".".join(platform.python_version_tuple()[:2])
    versions = {"ldpnb": __version__, "python": python} | {n: metadata.version(n) for n in ("numpy", "scipy")}
    return {"code": digest.hexdigest(), **versions}


def _sources(module: str) -> dict[str, bytes]:
    sources, waiting = dict[str, bytes](), [module]
    while waiting:
        name = waiting.pop()
        origin = _origin(name) if name not in sources else None
        if origin is not None:
            sources[name] = origin.read_bytes()
            waiting += _imports(ast.parse(sources[name]), module.partition(".")[0])
    return sources


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
    """Yield what a module imports from a package; of ``from a import b`` also ``a.b``, which may be a module."""
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{name}" for name in names)]
        yield from (name for name in names if name.partition(".")[0] == package)


def _origin(name: str) -> Path | None:
    """Return the file of a module, or None if there is no such module."""
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:  # its parent is a module, not a package
        return None
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None
