"""An estimate does not depend on the last bit of a processor's arithmetic."""

import numpy as np
import pytest

from ldpnb.estimators import likelihood
from ldpnb.rng import stream


@pytest.mark.parametrize("turn", range(6))
def test_where_reports_do_not_determine_the_estimate_it_is_the_centre_of_the_maxima(
    turn: int,
) -> None:
    # The first two values look alike in every report that was seen; unseen ones tell them apart.
    seen = np.array(
        [
            [1.0, 1.0, 3.0, 2.0],
            [2.0, 2.0, 1.0, 5.0],
            [4.0, 4.0, 1.0, 1.0],
            [1.0, 1.0, 1.0, 3.0],
        ]
    )
    scale = 1 + 2.0**-52 * stream("last bits", turn, seed=1).integers(-1, 2, size=seen.shape)
    estimate = likelihood.mle(seen * scale, [20, 30, 60, 15], tolerance=1e-6).estimate

    assert estimate[0] == pytest.approx(estimate[1], abs=1e-4)
    assert estimate[0] > 0.1
