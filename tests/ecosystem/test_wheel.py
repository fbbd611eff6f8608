"""The wheel holds the whole package, and works where only its three requirements are installed."""

import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import ldpnb

CHECKOUT = Path(ldpnb.__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    return made


def required(lines: list[str]) -> set[str]:
    """The distributions that requirements name, without extras, and those that they need."""
    names: set[str] = set()
    for requirement in map(Requirement, lines):
        marker = requirement.marker
        if marker is None or marker.evaluate({"extra": ""}):
            names.add(requirement.name)
            names |= required(distribution(requirement.name).requires or [])

    return names


@pytest.fixture(scope="module")
def plain(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Run lines in a Python that has the wheel and what it requires; return what they print."""
    folder = tmp_path_factory.mktemp("plain")
    zipfile.ZipFile(wheel).extractall(folder)
    metadata = next(folder.glob("*.dist-info/METADATA")).read_text(encoding="utf-8")
    key = "Requires-Dist: "
    lines = [line.removeprefix(key) for line in metadata.splitlines() if line.startswith(key)]

    for name in required(lines):
        for file in distribution(name).files or []:
            top = Path(file.parts[0])
            link = folder / top
            if top.name not in ("..", "__pycache__") and not link.exists():
                link.symlink_to(Path(str(distribution(name).locate_file(top))).resolve())

    def run(code: str) -> str:
        start = f"import sys; sys.path.insert(0, {str(folder)!r})\n"
        command = [sys.executable, "-S", "-P", "-c", start + code]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        return result.stdout + result.stderr

    return run


def test_a_wheel_holds_all_files_of_the_package(wheel: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = [path for path in (CHECKOUT / "ldpnb").rglob("*") if path.is_file()]
    own = [path.relative_to(CHECKOUT) for path in files if "__pycache__" not in path.parts]
    assert packed == {path.as_posix() for path in own}


USE = """
import ldpnb as ldp

krr = ldp.KaryRandomisedResponse(epsilon=1.0, domain_size=4)
tallies = krr.sample_tallies([500_000, 300_000, 150_000, 50_000], rng=ldp.stream("README", seed=1))
print(ldp.unbiased(tallies, 1_000_000, krr).round(3).tolist())

audited = ldp.exact_channel(lambda value, rng: value ^ int(rng.random() < 0.25), [0, 1])
print(audited.epsilon)
print(round(float(ldp.privacy_loss(krr.channel()).epsilon), 12))
print(round(ldp.srs_loss(1.0, 0.1), 4))
"""


def test_the_wheel_computes_losses_draws_estimates_and_audits_with_three_requirements(
    plain: Callable[[str], str],
) -> None:
    assert plain(USE).splitlines() == [
        "[0.502, 0.297, 0.15, 0.051]",
        "1.0986122886681098",
        "1.0",
        "0.1586",
    ]


@pytest.mark.parametrize("code", ["ldp.decide('biswas2022/theorem-3.5')", "ldp.load_column"])
def test_what_needs_more_names_the_extra_that_brings_it(
    plain: Callable[[str], str], code: str
) -> None:
    last = plain(f"import ldpnb as ldp; {code}").splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: No module named ")
    assert last.endswith("; install it with: pip install 'ldpnb[notebooks]'")


def test_the_command_line_without_its_libraries_says_so_in_one_line(
    plain: Callable[[str], str],
) -> None:
    said = plain("from ldpnb.__main__ import main; main()")
    assert (
        said == "ldpnb: No module named 'click'; install it with: pip install 'ldpnb[notebooks]'\n"
    )
