"""Names of a package that are imported when they are first used."""

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return a package's ``__getattr__``, ``__dir__`` and ``__all__`` for the names that its stub imports.

    A name that is also a submodule's stays the name, whoever imports the submodule.
    """
    lines = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body
    places = {name.name: line.module for line in lines if isinstance(line, ast.ImportFrom) for name in line.names}
    module = sys.modules[package]

    class Package(ModuleType):
        def __setattr__(self, name: str, value: Any) -> None:
            if not (name in places and isinstance(value, ModuleType)):
                super().__setattr__(name, value)

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{places[name]}"), name)
        setattr(module, name, value)
        return value

    module.__class__ = Package
    return get, lambda: sorted({*vars(module), *places}), sorted(places)
