"""Check the simulated sensor sessions, the reader of the real files, and made-up clients.

The sensor sessions are those of Appendix D of Juarez and Korolova. Their real files are not part of
this repository, so small ones of the same form are written here.
"""

from pathlib import Path

import numpy as np
import pytest

from ldpnb.papers.juarez2022 import clients, sessions
from ldpnb.rng import stream

READING = "0,0.27,1.01,-0.08,1,-63.5,2.42,924.25,1"


def write_session(folder: Path, name: str, lines: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n".join(lines) + "\n")


def test_simulated_sessions_have_the_shape_of_the_source() -> None:
    readings = sessions.simulate_sessions(rng=stream("sessions", seed=1))
    assert readings.groupby("group")["client"].nunique().to_dict() == {"male": 25, "female": 62}
    assert len(readings) / 87 == pytest.approx(864, rel=0.01)

    assert set(readings["activity"]) == {1, 2, 3, 4}
    share_lying = (readings["activity"] == sessions.LYING).mean()
    assert 0.3 < share_lying < 0.6


def test_real_files_are_read_with_group_labels_and_order(tmp_path: Path) -> None:
    write_session(tmp_path / "S1_Dataset", "d1p01M", [READING, "0.5,0.2,1,0,2,-60,1,921.75,3"])
    write_session(tmp_path / "S2_Dataset", "d2p02F", ["1.25,0.9,0.1,0.05,4,-58,0.3,920.25,3", ""])
    write_session(tmp_path / "S1_Dataset", "README.txt", ["not a session"])

    readings = sessions.read_sessions(tmp_path)
    assert readings["group"].tolist() == ["male", "male", "female"]
    assert readings["client"].tolist() == [0, 0, 1]
    assert readings["activity"].tolist() == [1, 3, 3]

    first = readings[[*sessions.FEATURES]].iloc[0]
    assert first.tolist() == [0, 0.27, 1.01, -0.08, 1, -63.5, 2.42, 924.25]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("1,2,3", id="too few fields"),
        pytest.param("0,0.2,1,0,2,-60,1,921.75,5", id="unknown activity"),
        pytest.param("0,0.2,1,0,2,-60,one,921.75,3", id="a word for a number"),
        pytest.param("0,nan,1,0,2,-60,1,921.75,3", id="not a number"),
    ],
)
def test_a_malformed_reading_is_refused_with_its_file(tmp_path: Path, line: str) -> None:
    write_session(tmp_path, "d1p01M", [READING, line])
    write_session(tmp_path, "d1p02F", [READING])
    with pytest.raises(ValueError, match="d1p01M: "):
        sessions.read_sessions(tmp_path)


def test_two_values_reach_any_mean_and_second_moment() -> None:
    sizes = [10**7, 10**6]
    means = [0.78, -0.4]
    second_moments = [0.993463, 0.3]
    sample = clients.two_valued(sizes, means, second_moments)

    assert sample.sizes.tolist() == sizes
    assert sample.means == pytest.approx(means, abs=2e-6)
    assert sample.second_moments == pytest.approx(second_moments, abs=2e-6)
    assert np.abs(sample.values).max() <= 1
