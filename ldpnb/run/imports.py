"""Libraries that need a special import."""

import sys
from types import ModuleType
from typing import cast


def jsonschema() -> None:
    """Import jsonschema, which reads and writes of notebooks need, in a tenth of its time.

    With JupyterLab installed it compiles a grammar of international addresses, which takes more than a second in every
    process. No notebook has such addresses; without the grammar their format is not checked, as in a plain installation
    of jsonschema.
    """
    grammar = "rfc3987_syntax"
    if grammar in sys.modules:
        return
    sys.modules[grammar] = cast(ModuleType, None)  # so that its import fails
    try:
        import jsonschema  # type: ignore[import-untyped]  # noqa: F401
    finally:
        del sys.modules[grammar]
