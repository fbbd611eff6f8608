"""The same numbers elsewhere: other Pythons, other dependencies, other code paths of numpy.

``make nox`` runs all sessions, ``make nox ARGS="-s code_paths"`` runs some of them, and
``make nox ARGS=-l`` lists them.
"""

from pathlib import Path

import nox

nox.options.default_venv_backend = "uv"
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
CODE_PATHS = {
    "AVX2": {
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
        "OPENBLAS_CORETYPE": "Haswell",
    },
    "SSE": {
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
        "OPENBLAS_CORETYPE": "Nehalem",
    },
}
UNKNOWN = {"PYTHONWARNINGS": "error::ImportWarning"}
"""By which numpy says that it has no feature of such a name, as its names of before 2.4."""
LOCKED = "tests/run/test_environment.py::test_installed_versions_are_the_locked_ones"
"""What must not hold where the dependencies are not those of the lock."""


@nox.session(python=PYTHONS)
@nox.parametrize("resolution", ["highest", "lowest-direct"])
def dependencies(session: nox.Session, resolution: str) -> None:
    """Run the tests, or what is named after ``--``, with the newest or the oldest dependencies.

    Those are the newest that a user would get: the constraints of the lock, which uv reads in
    pyproject.toml, do not hold. The oldest have wheels for the oldest Python only.
    """
    if resolution != "highest" and session.python != PYTHONS[0]:
        session.skip("no wheels")
    newest = ["--no-config"] if resolution == "highest" else []
    session.run_install(
        *("uv", "pip", "install", *newest, "--resolution", resolution),
        *("--group", "dev", "--editable", ".[notebooks]"),
    )
    session.run("python", "-m", "pytest", "--deselect", LOCKED, *session.posargs)


@nox.session(python=PYTHONS)
def wheel(session: nox.Session) -> None:
    """Do what the wheel promises beside a clone, with the newest dependencies."""
    clone = Path(session.create_tmp()).resolve() / "clone"
    session.run("git", "clone", "--quiet", ".", str(clone), external=True)
    session.install("build")
    session.run("python", "-m", "build", "--wheel", "--outdir", session.create_tmp())
    (built,) = Path(session.create_tmp()).glob("*.whl")
    session.run_install("uv", "pip", "install", "--no-config", f"{built}[notebooks]")
    session.chdir(session.create_tmp())
    notebook = "5_lecture20/01_means"
    for command in (
        "list",
        "show theorem-5.1",
        "verdicts --source lecture20",
        f"run {notebook}",
        f"check {notebook}",
    ):
        session.run("ldpnb", *command.split(), env={"LDPNB_HOME": str(clone)})


@nox.session(venv_backend="none")
@nox.parametrize("code_path", list(CODE_PATHS))
def code_paths(session: nox.Session, code_path: str) -> None:
    """Run every notebook on another code path; what is committed stays as it is."""
    session.run(".venv/bin/ldpnb", "run", env=CODE_PATHS[code_path] | UNKNOWN, external=True)
    session.run("git", "diff", "--exit-code", "--stat", "--", "notebooks", "figures", external=True)
