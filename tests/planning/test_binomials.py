"""The exact law of the bits of a sample against its inverse Fourier transform, by all numbers of holders."""

import numpy as np
import pytest
from scipy import stats

from ldpnb.surveys import binomials


def law_of_ones(population: int, holders: int, bits: int, p: float, q: float) -> np.ndarray:
    number = np.arange(max(0, bits + holders - population), min(bits, holders) + 1)
    masses = stats.hypergeom.pmf(number, population, holders, bits)
    number, masses = number[masses > 1e-18], masses[masses > 1e-18]
    turn = np.exp(-2j * np.pi * np.arange(bits + 1) / (bits + 1))[:, None]
    logs = number * np.log(1 - p + p * turn) + (bits - number) * np.log(1 - q + q * turn)
    return np.fft.ifft((masses * np.exp(logs)).sum(axis=1)).real


@pytest.mark.parametrize("epsilon", [1.0, 4.0, 5.0, 6.0, 8.0, 20.0])
@pytest.mark.parametrize(("population", "bits"), [(50_000, 2_000), (2_400, 2_000)])
def test_the_tail_of_a_sample_is_exact_however_little_its_reports_are_randomised(
    population: int, bits: int, epsilon: float
) -> None:
    p, q, holders = 1 / (1 + np.exp(-epsilon)), 1 / (1 + np.exp(epsilon)), population // 3
    law = law_of_ones(population, holders, bits, p, q)
    number = np.arange(bits + 1)
    spread = np.sqrt(law @ number**2 - (law @ number) ** 2)
    for least in (int(bits * (q + (p - q) / 3) + z * spread) for z in (1.0, 2.6, 4.0)):
        tail = binomials.sampled_tail(least, bits, population, holders, p, q)
        assert tail == pytest.approx(law[least:].sum(), rel=1e-8)
