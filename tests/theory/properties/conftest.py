"""Properties hold without overflow, division by zero or invalid operations anywhere on the way."""

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _floating_point_errors_are_raised() -> Iterator[None]:
    with np.errstate(all="raise", under="ignore"):
        yield
