"""Give every random stream of a Python that starts with this on its path another key, by the variable SALT."""

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder


class Salted(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        spec = PathFinder.find_spec(name, path) if name == "ldpnb.rng" else None
        if spec is not None:
            plain = spec.loader.exec_module

            def exec_module(module):
                plain(module)
                canonical = module._canonical
                module._canonical = lambda part: os.environ["SALT"] + canonical(part)

            spec.loader.exec_module = exec_module
        return spec


if os.environ.get("SALT"):
    sys.meta_path.insert(0, Salted())
