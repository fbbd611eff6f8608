"""Libraries that need a special import."""

import sys
from types import ModuleType
from typing import cast


def jsonschema() -> None:
    """Import jsonschema, which reads and writes of notebooks need, in a tenth of its time.

    With JupyterLab installed it compiles a grammar of international addresses, which takes more than a second in every
    process, and imports a library of dates for durations. No notebook has either; without them their format is not
    checked, as in a plain installation of jsonschema.
    """
    unneeded = {"rfc3987_syntax", "isoduration"} - sys.modules.keys()
    sys.modules.update(dict.fromkeys(unneeded, cast(ModuleType, None)))  # so that their import fails
    try:
        import jsonschema  # type: ignore[import-untyped]  # noqa: F401
    finally:
        for name in unneeded:
            del sys.modules[name]
