"""Where the time of running all notebooks goes: imports, kernel starts, drawing, deciding claims, other computing."""

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

HOOKS = """
import time, ldpnb.claims, ldpnb.notebook.figures
spent = {"drawing": 0.0, "deciding claims": 0.0}
def timed(owner, name, kind):
    inner = getattr(owner, name)
    def outer(*args, **options):
        start = time.perf_counter()
        try:
            return inner(*args, **options)
        finally:
            spent[kind] += time.perf_counter() - start
    setattr(owner, name, outer)
timed(ldpnb.notebook.figures, "publish", "drawing")
timed(ldpnb.claims, "decide", "deciding claims")
"""


def start() -> tuple[Any, Any]:
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    return manager, client


def say(client: Any, code: str) -> str:
    said: list[str] = []
    client.execute_interactive(code, output_hook=lambda m: said.append(m["content"].get("text", "")))
    return "".join(said)


def where_the_time_goes() -> dict[str, float]:
    """Run every notebook in a kernel of its own, one after another, and return the seconds by kind."""
    from ldpnb.run.catalogue import catalogue
    from ldpnb.run.execution import kernel_environment
    from ldpnb.run.kernels import share_imports

    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(kernel_environment(Path(folder)))
        share_imports()
        took = {"imports, once a worker": 0.0, "kernel starts": 0.0, "computing": 0.0}
        for i, notebook in enumerate([None, *catalogue()]):
            begun = time.perf_counter()
            manager, client = start()
            ready = time.perf_counter() - begun
            took["kernel starts" if i else "imports, once a worker"] += ready
            if notebook is not None:
                say(client, HOOKS)
                begun = time.perf_counter()
                for cell in json.loads(notebook.path.read_text())["cells"]:
                    if cell["cell_type"] == "code":
                        say(client, "".join(cell["source"]))
                took["computing"] += time.perf_counter() - begun
                spent = json.loads(say(client, "import json; print(json.dumps(spent))"))
                for kind, seconds in spent.items():
                    took[kind] = took.get(kind, 0.0) + seconds
                    took["computing"] -= seconds
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    return took
