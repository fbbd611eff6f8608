"""Libraries that are imported in a particular way."""

import sys
from types import ModuleType
from typing import cast


def jsonschema() -> None:
    """Import jsonschema, which reads and writes of notebooks need, in a tenth of its time.

    With JupyterLab installed it would compile a grammar of international addresses, for more than a second in every
    process. No notebook has one; without the grammar that one format is not checked, as in a plain installation of
    jsonschema.
    """
    grammar = "rfc3987_syntax"
    if grammar in sys.modules:
        return
    sys.modules[grammar] = cast(ModuleType, None)  # so that its import fails
    try:
        import jsonschema  # type: ignore[import-untyped]  # noqa: F401
    finally:
        del sys.modules[grammar]
