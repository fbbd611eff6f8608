"""Facts about simulated sensor sessions, the reader of the real files, and clients drawn from
rates.
"""

from pathlib import Path

import numpy as np
import pytest

from ldpnb.papers.juarez2022 import clients, sessions
from ldpnb.rng import stream

READING = "0,0.27,1.01,-0.08,1,-63.5,2.42,924.25,1"


def test_simulated_sessions_have_the_shape_of_the_source() -> None:
    recorded = sessions.simulate_sessions(rng=stream("sessions", seed=1))
    assert recorded.groupby("group")["client"].nunique().to_dict() == {"male": 25, "female": 62}
    assert len(recorded) / 87 == pytest.approx(864, rel=0.01)
    assert set(recorded["activity"]) == {1, 2, 3, 4}
    assert 0.3 < (recorded["activity"] == sessions.LYING).mean() < 0.6


def write(folder: Path, name: str, lines: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n".join(lines) + "\n")


def test_real_files_are_read_with_group_labels_and_order(tmp_path: Path) -> None:
    write(tmp_path / "S1_Dataset", "d1p01M", [READING, "0.5,0.2,1,0,2,-60,1,921.75,3"])
    write(tmp_path / "S2_Dataset", "d2p02F", ["1.25,0.9,0.1,0.05,4,-58,0.3,920.25,3", ""])
    write(tmp_path / "S1_Dataset", "README.txt", ["not a session"])
    recorded = sessions.read_sessions(tmp_path)
    assert recorded["group"].tolist() == ["male", "male", "female"]
    assert recorded["client"].tolist() == [0, 0, 1]
    assert recorded["activity"].tolist() == [1, 3, 3]
    assert recorded[[*sessions.FEATURES]].iloc[0].tolist() == [
        0,
        0.27,
        1.01,
        -0.08,
        1,
        -63.5,
        2.42,
        924.25,
    ]


@pytest.mark.parametrize(
    "line",
    [
        "1,2,3",
        "0,0.2,1,0,2,-60,1,921.75,5",
        "0,0.2,1,0,2,-60,one,921.75,3",
        "0,nan,1,0,2,-60,1,921.75,3",
    ],
)
def test_a_malformed_reading_is_refused_with_its_file(tmp_path: Path, line: str) -> None:
    write(tmp_path, "d1p01M", [READING, line])
    write(tmp_path, "d1p02F", [READING])
    with pytest.raises(ValueError, match="d1p01M: "):
        sessions.read_sessions(tmp_path)


def test_two_values_reach_any_mean_and_second_moment() -> None:
    made = clients.two_valued([10**7, 10**6], [0.78, -0.4], [0.993463, 0.3])
    assert made.means == pytest.approx([0.78, -0.4], abs=2e-6)
    assert made.second_moments == pytest.approx([0.993463, 0.3], abs=2e-6)
    assert made.sizes.tolist() == [10**7, 10**6]
    assert np.abs(made.values).max() <= 1
