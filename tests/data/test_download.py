"""Public data through pooch, against a server on the loopback interface."""

import hashlib
import http.server
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from ldpnb.checks import UsageError
from ldpnb.cli import cli
from ldpnb.data import download

ROW = b"39, {}, 1, BA, 13, single, clerk, none, White, Male, 0, 0, 40, US, <=50K\n"
PEOPLE = ROW.replace(b"{}", b"State-gov") + ROW.replace(b"{}", b"Private").replace(b"Male", b"Female") + b"\n"
NOWHERE = "http://127.0.0.1:9/adult.data"


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, str, list[str]]]:
    """A folder that is served, its address, and the requests so far."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder, requests = tmp_path / "served", []
    folder.mkdir()
    (folder / "adult.data").write_bytes(PEOPLE)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *arguments: object) -> None:
            requests.append(self.path)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}", requests
        server.shutdown()
        thread.join()


def test_a_file_is_fetched_once_recorded_and_read_from_the_cache_when_offline(served, tmp_path: Path) -> None:
    _, address, requests = served
    cache, url = tmp_path / "cache", f"{address}/adult.data"
    first = download.fetch("adult", url=url, cache=cache)
    assert (first.trusted, first.sha256) == (True, hashlib.sha256(PEOPLE).hexdigest())
    assert json.loads((cache / "checksums.json").read_text())["adult.data"]["sha256"] == first.sha256
    work = first.column("workclass")
    assert (work.labels, work.source) == (("Private", "State-gov"), url)
    asked = len(requests)
    offline = download.fetch("adult", url=NOWHERE, cache=cache)
    assert (offline.path, offline.trusted, len(requests)) == (first.path, False, asked)
    assert download.fetch("adult", cache=cache).sha256 == first.sha256


def test_a_packed_file_is_unpacked(served, tmp_path: Path) -> None:
    folder, address, _ = served
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        packed.writestr("cbp15co.txt", "fipstate,emp\n01,5\n")
    (folder / "cbp15co.zip").write_bytes(content.getvalue())
    found = download.fetch("cbp", url=f"{address}/cbp15co.zip", cache=tmp_path / "cache")
    assert found.path.name == "cbp15co.txt"
    assert found.column("emp", low=0, high=9).users == 1


def test_offline_without_a_copy_says_where_to_put_one(tmp_path: Path) -> None:
    advice = r"no connection to 127.0.0.1:9 .*Offline\? Fetch .* put it at .*adult.data"
    with pytest.raises(download.DownloadError, match=advice):
        download.fetch("adult", url=NOWHERE, cache=tmp_path)
    (tmp_path / "adult.data").write_bytes(PEOPLE)
    by_hand = download.fetch("adult", url=NOWHERE, cache=tmp_path)
    assert (by_hand.trusted, by_hand.column("sex").users) == (True, 2)


def test_a_file_that_changed_is_refused_until_its_checksum_is_stated(served, tmp_path: Path) -> None:
    folder, address, _ = served
    url, cache, changed = f"{address}/adult.data", tmp_path / "cache", PEOPLE + PEOPLE
    download.fetch("adult", url=url, cache=cache)
    (cache / "adult.data").write_bytes(b"damaged")
    assert download.fetch("adult", url=url, cache=cache).column("sex").users == 2
    (folder / "adult.data").write_bytes(changed)
    (cache / "adult.data").write_bytes(b"damaged")
    for place, rule in ((url, "is not the file with the SHA-256"), (NOWHERE, "the copy in the cache is damaged")):
        with pytest.raises(download.DownloadError, match=rule):
            download.fetch("adult", url=place, cache=cache)
    stated = hashlib.sha256(changed).hexdigest()
    found = download.fetch("adult", url=url, cache=cache, sha256=stated)
    assert (found.sha256, found.trusted, found.column("sex").users) == (stated, False, 4)


def test_a_moved_file_and_bad_arguments_are_named(served, tmp_path: Path) -> None:
    _, address, _ = served
    with pytest.raises(download.DownloadError, match=r"gone.data answers 404; give its present place with --url"):
        download.fetch("adult", url=f"{address}/gone.data", cache=tmp_path)
    assert not (tmp_path / "gone.data").exists()
    for arguments, rule in (
        ({"name": "adults"}, "name must be one of adult, taxi, cbp"),
        ({"name": "adult", "sha256": "abc"}, "sha256 must be 64 hexadecimal digits"),
    ):
        with pytest.raises(ValueError, match=rule):
            download.fetch(cache=tmp_path, **arguments)


def test_the_command_prints_the_path_alone(served, tmp_path: Path) -> None:
    def call(*arguments: str):
        return CliRunner().invoke(cli, ["download", *arguments])

    fetched = call("adult", "--url", f"{served[1]}/adult.data", "--cache", str(tmp_path / "cache"))
    assert (fetched.exit_code, fetched.stdout) == (0, f"{tmp_path / 'cache' / 'adult.csv'}\n")
    assert "recorded on trust" in fetched.stderr
    offline = call("taxi", "--url", "http://127.0.0.1:9/x.parquet", "--cache", str(tmp_path))
    assert offline.exit_code == 1
    assert "Offline?" in offline.stderr
    assert isinstance(call("nothing").exception, UsageError)
    assert "UCI Adult" in call().stdout
