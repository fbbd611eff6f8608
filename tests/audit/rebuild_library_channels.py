"""Rebuild ``notebooks/6_implementations/channels`` from the client code of two libraries.

The libraries are no dependencies of this project. They live in an environment of their own:

    python -m venv build/libraries
    build/libraries/bin/pip install -r notebooks/6_implementations/channels/requirements.txt .
    NUMBA_DISABLE_JIT=1 build/libraries/bin/python tests/audit/rebuild_library_channels.py

Compiled code cannot be followed, so numba must be told not to compile.
"""

import csv
import datetime
import itertools
import random
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from unittest import mock

import numpy as np
from multi_freq_ldpy.long_freq_est import L_GRR, L_OSUE, dBitFlipPM
from multi_freq_ldpy.mdim_freq_est import RSpFD_solution, SMP_solution
from multi_freq_ldpy.pure_frequency_oracles import GRR, SS, UE
from pure_ldp.core import generate_hash
from pure_ldp.frequency_oracles import DEClient, DEServer, LHClient, UEClient, UEServer
from pure_ldp.frequency_oracles.apple_cms import CMSClient
from pure_ldp.frequency_oracles.hadamard_mechanism import HadamardMechClient, HadamardMechServer
from pure_ldp.frequency_oracles.hadamard_response import (
    HadamardResponseClient,
    HadamardResponseServer,
)
from pure_ldp.frequency_oracles.priv_count_sketch import PCSClient, PCSServer
from pure_ldp.frequency_oracles.rappor import RAPPORClient, RAPPORServer

from ldpnb.audit import ExactChannel, exact_channel

FOLDER = Path(__file__).parents[2] / "notebooks/6_implementations/channels"
RELEASED = {"pure-ldp": "2023-09", "multi-freq-ldpy": "2023-07"}
EPSILON = 1.0

rows: list[dict] = []


def same(value):
    """Map a value to its index, as the clients of pure-ldp ask for."""
    return value


def text(output) -> str:
    """Return an output without commas: its parts side by side, parts of parts in parentheses."""
    if not isinstance(output, tuple):
        return f"{output:g}" if isinstance(output, float) else str(output)
    parts = [f"({text(part)})" if isinstance(part, tuple) else text(part) for part in output]
    return " ".join(parts)


def one_apart(one, other) -> bool:
    return sum(a != b for a, b in zip(one, other, strict=True)) == 1


def record(
    library: str,
    mechanism: str,
    setting: str,
    stated: float,
    client: Callable,
    inputs,
    *,
    estimate: Callable | None = None,
    truth: np.ndarray | None = None,
) -> None:
    """Audit a client, save its channel, and add a row to the table."""
    channel = exact_channel(client, inputs)
    words = re.split(r"[-\[\]+(),=. ]+", f"{library} {mechanism} {setting}".lower())
    file = "-".join(word for word in words if word) + ".csv"
    save(channel, FOLDER / file, library, mechanism, setting, stated)

    bias = ""
    if estimate:
        means, _ = channel.moments(estimate)
        expected = np.eye(len(means)) if truth is None else truth
        bias = f"{np.abs(means - expected).max():.3g}"

    tuples = isinstance(channel.inputs[0], tuple)
    row = {
        "file": file,
        "library": library,
        "version": version(library),
        "released": RELEASED[library],
        "mechanism": mechanism,
        "setting": setting,
        "stated": f"{stated:.12g}",
        "exact": f"{channel.epsilon:.12g}",
        "one attribute": f"{channel.loss(one_apart).epsilon:.12g}" if tuples else "",
        "likelier input": text(channel.pair[0]),
        "other input": text(channel.pair[1]),
        "output": text(channel.output),
        "bias": bias,
        "paths": channel.paths,
        "numpy": np.__version__,
        "audited": datetime.date.today().isoformat(),
    }
    rows.append(row)
    print(f"{library} {mechanism:28s} {stated:8.5f} {channel.epsilon:10.6f} {bias}")


def save(channel: ExactChannel, path: Path, library, mechanism, setting, stated) -> None:
    """Write a channel: a row for each output, a column for each input, floats in full."""
    with path.open("w", newline="") as file:
        file.write(
            f"# {library} {version(library)} ({RELEASED[library]}): {mechanism}, {setting}\n"
        )
        file.write(f"# stated epsilon {stated:.12g}, exact epsilon {channel.epsilon:.12g}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["output", *(text(value) for value in channel.inputs)])
        for output, probabilities in zip(channel.outputs, channel.probabilities, strict=True):
            writer.writerow([text(output), *(repr(float(one)) for one in probabilities)])


def by_server(server, values, report: Callable = same) -> Callable:
    """Return the estimates that a server of pure-ldp makes from one report."""

    def estimate(output):
        server.reset()
        server.aggregate(report(output))
        return [float(server.estimate(value, suppress_warnings=True)) for value in values]

    return estimate


def bits_and_number(output):
    return np.array(output[0]), output[1]


def sketch_server(epsilon: float, rows: int, width: int) -> PCSServer:
    """Return a server of count sketches, whose constructor asks NumPy 2 for ``zeros(None)``."""
    zeros = np.zeros
    with mock.patch.object(np, "zeros", lambda shape: zeros(shape or 0)):
        server = PCSServer(epsilon, rows, width, use_median=False)

    server.d = 0
    return server


def values_apart(server: PCSServer) -> list[int]:
    """Return three values that share no cell of the sketch.

    Then the client's noise alone makes the error of an estimate.
    """
    for values in itertools.combinations(range(20), 3):
        words = [str(value) for value in values]
        if all(len(set(map(place, words))) == 3 for place in server.h_funcs):
            return list(values)
    raise ValueError("every three values share a cell")


def pure_ldp() -> None:
    """Audit pure-ldp, a mechanism after the other."""
    direct_encoding()
    unary_encodings()
    hadamard_response()
    hadamard_mechanism()
    local_hashing()
    count_mean_sketch()
    count_sketch()
    rappor()


def direct_encoding() -> None:
    client = DEClient(EPSILON, 4, same)
    estimate = by_server(DEServer(EPSILON, 4, same), range(4))
    record("pure-ldp", "DE", "d=4", EPSILON, client.privatise, range(4), estimate=estimate)


def unary_encodings() -> None:
    for name, optimal in (("SUE", False), ("OUE", True)):
        client = UEClient(EPSILON, 3, optimal, same)
        estimate = by_server(UEServer(EPSILON, 3, optimal, same), range(3), np.array)
        record("pure-ldp", name, "d=3", EPSILON, client.privatise, range(3), estimate=estimate)


def hadamard_response() -> None:
    name = "Hadamard response"
    server = HadamardResponseServer(EPSILON, 3, same)
    client = HadamardResponseClient(EPSILON, 3, server.get_hash_funcs(), same)
    estimate = by_server(server, range(3))
    record("pure-ldp", name, "d=3", EPSILON, client.privatise, range(3), estimate=estimate)


def hadamard_mechanism() -> None:
    name = "Hadamard mechanism"
    client = HadamardMechClient(EPSILON, 4, 2, False, same)
    estimate = by_server(HadamardMechServer(EPSILON, 4, 2, False, same), range(4))
    record("pure-ldp", name, "d=4 t=2", EPSILON, client.privatise, range(4), estimate=estimate)


def local_hashing() -> None:
    client = LHClient(EPSILON, 4, use_olh=True, index_mapper=same)

    def hashed(value):
        seed = random.randrange(5)  # the client draws one of 2**63 seeds and sends it: five of them
        return client._perturb(value, seed), seed

    record("pure-ldp", "OLH", "d=4 seeds=5", EPSILON, hashed, range(4))


def count_mean_sketch() -> None:
    hashes = [generate_hash(3, seed) for seed in range(2)]
    client = CMSClient(EPSILON, hashes, 3)
    record("pure-ldp", "CMS", "k=2 m=3", EPSILON, client.privatise, range(4))


def count_sketch() -> None:
    name = "PrivCountSketch"
    server = sketch_server(EPSILON, 2, 4)
    client = PCSClient(EPSILON, 2, 4, server.get_hash_funcs())
    apart = values_apart(server)
    estimate = by_server(server, apart, bits_and_number)
    record("pure-ldp", name, "l=2 w=4", EPSILON, client.privatise, apart, estimate=estimate)


def rappor() -> None:
    f = RAPPORClient(0, 1, None).convert_eps_to_f(EPSILON)
    server = RAPPORServer(f, 4, 1, 4, num_of_cohorts=2, index_mapper=same)
    server.hash_family = [[generate_hash(4, seed)] for seed in (3, 4)]
    client = RAPPORClient(f, 4, server.hash_family, 2, same)

    def unscrambled(output):
        """The server's own unscrambling of one report, before its regression, times the cohorts."""
        server.bloom_filters = [np.zeros(4) for _ in range(2)]
        server.cohort_count = np.zeros(2)
        server.aggregate((np.array(output[0]), output[1]))
        return 2 * server._create_y()

    filters = np.zeros((4, 8))
    for value, (cohort, hashes) in itertools.product(range(4), enumerate(server.hash_family)):
        filters[value, 4 * cohort + hashes[0](str(value))] = 1

    record(
        "pure-ldp",
        "RAPPOR",
        f"m=4 k=1 f={f}",
        server.epsilon,
        client.privatise,
        range(4),
        estimate=unscrambled,
        truth=filters,
    )


def multi_freq_ldpy() -> None:
    """Audit multi-freq-ldpy."""

    def one(name: str, setting: str, inputs, client: Callable, *arguments) -> None:
        """Audit a client of one attribute."""
        record("multi-freq-ldpy", name, setting, EPSILON, lambda x: client(x, *arguments), inputs)

    def several(name: str, client: Callable, sizes: list[int], *options) -> None:
        """Audit a client of several attributes."""
        tuples = list(itertools.product(*map(range, sizes)))
        setting = f"d={len(sizes)} k={'x'.join(map(str, sizes))}"
        one(name, setting, tuples, client, sizes, len(sizes), EPSILON, *options)

    def sorted_subset(value, size: int, epsilon: float):
        return tuple(sorted(SS.SS_Client(value, size, epsilon).tolist()))

    chained = "eps_perm=2 one report"
    one("GRR", "k=4", range(4), GRR.GRR_Client, 4, EPSILON)
    one("SS", "k=6", range(6), sorted_subset, 6, EPSILON)
    one("OUE", "k=3", range(3), UE.UE_Client, 3, EPSILON, True)
    one("L-GRR", f"k=10 {chained}", range(10), L_GRR.L_GRR_Client, 10, 2.0, EPSILON)
    one("L-OSUE", f"k=3 {chained}", range(3), L_OSUE.L_OSUE_Client, 3, 2.0, EPSILON)
    one("dBitFlipPM", "k=6 b=3 d=1", range(6), dBitFlipPM.dBitFlipPM_Client, 6, 3, 1, EPSILON)

    several("SMP[GRR]", SMP_solution.SMP_GRR_Client, [2, 2])
    several("RS+FD[GRR]", RSpFD_solution.RSpFD_GRR_Client, [2, 2])
    several("RS+FD[GRR]", RSpFD_solution.RSpFD_GRR_Client, [2, 2, 2])
    several("RS+FD[GRR]", RSpFD_solution.RSpFD_GRR_Client, [4, 2])
    several("RS+FD[SUE-z]", RSpFD_solution.RSpFD_UE_zero_Client, [2, 2], False)
    several("RS+FD[OUE-z]", RSpFD_solution.RSpFD_UE_zero_Client, [2, 2], True)
    several("RS+FD[OUE-r]", RSpFD_solution.RSpFD_UE_rnd_Client, [2, 2], True)
    several("RS+FD[OUE-r]", RSpFD_solution.RSpFD_UE_rnd_Client, [3, 3], True)


if __name__ == "__main__":
    pure_ldp()
    multi_freq_ldpy()
    with (FOLDER / "index.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
