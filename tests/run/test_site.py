"""The static site: what a page shows of a notebook, that everything on it leads somewhere, and that it can be read."""

import base64
import io
import json
import random
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from types import FunctionType

import nbformat
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner, Result
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image
from test_formulas import symbols

import ldpnb
from ldpnb import claims
from ldpnb.checks import UsageError
from ldpnb.claims import SOURCES
from ldpnb.cli import cli
from ldpnb.run import catalogue
from ldpnb.run.catalogue import home
from ldpnb.site import builder, entries, explore, front, launch, links, reference, sources
from ldpnb.site.atlas import CODE, Atlas
from ldpnb.site.notation import typeset
from ldpnb.site.pages import notebook_page

LEDGER = """claim,notebook,place,says,status,reach,over,evidence,corrected,assumption,argument,reading,kind,false_alarm,power
biswas2022/theorem-2.1,1_demo/01_line,Theorem 2.1,"a * b < c, says_it",reproduced,all parameters,n >= 1,1 = 1,,,,printed,identity,,
demo/lemma-9,1_demo/01_line,Lemma 9,it holds,refuted,instances,one,2 > 1,it does not,,,printed,statistical,1e-06,0.99
"""
TEXT = """# A line

Its slope $\\hat a$, from [the streams](../../ldpnb/rng.py#L3), the [data](../../ldpnb/data/README.md),
[all code](../../ldpnb) and [the ledger](../99_verdicts.ipynb):
$$a = \\frac{y}{x}$$"""
VERDICTS = """**Theorem 2.1: reproduced.** $A\\cdot b<c$, says_it.

- Evidence (identity, two routes): 1 = 1

**Lemma 9: refuted.** It holds.

- Evidence (x): 2 > 1"""
TABLE = pd.DataFrame({"name": ["a", "b"], "value": [0.5, 1e-6]})


CLAIMS = "ldpnb/papers/biswas2022/section_"
MODULES = [m for m in sources.modules() if m in ("ldpnb/__init__.py", "ldpnb/rng.py") or m.startswith(CLAIMS)]


def picture() -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (300, 150), "white").save(content, format="png")
    return content.getvalue()


def cell(code: str, *outputs: dict, **metadata: object) -> dict:
    return new_code_cell(code, outputs=list(outputs), execution_count=1, metadata=metadata)


def shows(**data: str) -> dict:
    return new_output("display_data", data={k.replace("_", "/"): v for k, v in data.items()})


def prepare(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Make a folder a checkout with one result and a ledger, both executed, and the one that is at work."""
    figures, notebooks = folder / "figures", folder / "notebooks"
    (figures / "1_demo/01_line").mkdir(parents=True)
    (notebooks / "1_demo").mkdir(parents=True)
    stem = figures / "1_demo/01_line/figure_1"
    stem.with_suffix(".png").write_bytes(picture())
    stem.with_suffix(".pdf").write_bytes(b"%PDF")
    stem.with_suffix(".csv").write_text("x,y\n1,2\n")
    stem.with_suffix(".json").write_text(json.dumps({"caption": 'A "line" at $x = 1$.'}) + "\n")
    (figures / "verdicts.csv").write_text(LEDGER)
    result = new_notebook(
        cells=[
            new_markdown_cell(TEXT),
            cell("users: int = 4  # number of users", tags=["parameters"]),
            cell("curve(table)", shows(image_png=base64.b64encode(picture()).decode())),
            cell("TABLE", shows(text_html=TABLE.to_html())),
            cell("verdicts()", shows(text_markdown=VERDICTS), tags=["claims"]),
            cell("live(redraw)", new_output("stream", name="stdout", text="1 < 2\n")),
        ]
    )
    nbformat.write(result, notebooks / "1_demo/01_line.ipynb")
    nbformat.write(new_notebook(cells=[new_markdown_cell("# The *ledger*")]), notebooks / "99_verdicts.ipynb")
    patch.setattr(sources, "modules", lambda: MODULES)
    patch.setattr(reference, "pages", lambda entries: iter([(reference.INDEX, "")]))
    patch.setattr(reference, "rests_on", lambda claim: [])
    patch.setenv(catalogue.HOME_VARIABLE, str(folder))
    catalogue.catalogue.cache_clear()
    return folder


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    yield prepare(tmp_path, monkeypatch)
    catalogue.catalogue.cache_clear()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of that checkout."""
    with pytest.MonkeyPatch.context() as patch:
        site = prepare(tmp_path_factory.mktemp("built"), patch) / "site"
        builder.build(site)
    catalogue.catalogue.cache_clear()
    return site


@pytest.fixture(scope="module")
def result(built: Path) -> str:
    """The page of its result."""
    return (built / "1_demo/01_line.html").read_text()


def result_again() -> str:
    """Return the page of the result of the checkout at work, made alone."""
    return notebook_page(catalogue.find("01_line"), entries.entries(), (None, None), Atlas())


def change(checkout: Path, old: str, new: str) -> None:
    path = checkout / "notebooks/1_demo/01_line.ipynb"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_a_figure_has_its_caption_as_alternative_text_its_size_and_its_files(result: str) -> None:
    alt = "A &quot;line&quot; at x = 1."
    assert f'<img src="01_line/figure_1.png" width="200" height="100" alt="{alt}">' in result
    for suffix in (".pdf", ".csv"):
        assert f'<a href="01_line/figure_1{suffix}" download="">{suffix}</a>' in result
    assert '<a href="01_line.ipynb" download>.ipynb</a>' in result
    assert "base64" not in result


def test_code_is_folded_and_parameters_are_a_table(result: str) -> None:
    assert result.count('<details class="code">') == 4
    assert re.search(r'<th scope="row"><code>users</code></th><td><code>4</code></td><td>number of users</td>', result)


def test_formulas_are_mathml_and_links_lead_to_pages(result: str) -> None:
    assert "$" not in re.sub(r"<pre>.*?</pre>", "", result)
    assert '<math display="block">' in result
    assert 'href="../code/ldpnb/rng.py.html#L-3"' in result
    assert 'href="../code/ldpnb/data/README.md"' in result
    assert 'href="../code/index.html#ldpnb"' in result
    assert '<a href="../99_verdicts.html">the ledger</a>' in result
    assert '<a rel="next" href="../99_verdicts.html">The ledger →</a>' in result


def test_launch_links_appear_when_the_project_knows_its_address(checkout: Path, result: str) -> None:
    assert "mybinder" not in result
    assert (
        "It needs the package ldpnb; where that is missing, as in Colab: <code>pip install .</code>, in a copy"
        in result
    )
    (checkout / "pyproject.toml").write_text('[project.urls]\nRepository = "https://github.com/some/where/"\n')
    page = result_again()
    for url in (
        "https://mybinder.org/v2/gh/some/where/main?labpath=notebooks%2F1_demo%2F01_line.ipynb",
        "https://colab.research.google.com/github/some/where/blob/main/notebooks/1_demo/01_line.ipynb",
        "https://github.com/some/where/blob/main/notebooks/1_demo/01_line.ipynb",
    ):
        assert f'<a href="{url}">' in page
    assert "pip install git+https://github.com/some/where<" in page
    first = json.loads(launch.offered(catalogue.find("01_line")))["cells"][0]["source"]
    assert "pip install git+https://github.com/some/where\n" in first[0]
    assert launch.links("https://gitlab.com/a/b/c", "n.ipynb") == [
        ("Binder", "https://mybinder.org/v2/gl/a%2Fb%2Fc/main?labpath=n.ipynb"),
        ("GitLab", "https://gitlab.com/a/b/c/-/blob/main/n.ipynb"),
    ]
    for wrong in ("github.com/a/b", "https://github.com/a", "file:///a/b"):
        with pytest.raises(UsageError, match="Repository must be like https://host/owner/name, got "):
            launch.links(wrong, "n.ipynb")


def test_a_downloaded_notebook_begins_with_how_to_get_the_package(
    checkout: Path, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = nbformat.read(checkout / "notebooks/1_demo/01_line.ipynb", as_version=4)
    offered = nbformat.reads(launch.offered(catalogue.find("01_line")), as_version=4)
    nbformat.validate(offered)
    assert offered.cells[1:] == own.cells
    first = offered.cells[0].source
    assert first.startswith("# This notebook needs the package ldpnb. Where it is missing: pip install .")
    assert nbformat.read(built / "1_demo/01_line.ipynb", as_version=4).cells[0].source == first
    exec(first, {})
    monkeypatch.setitem(sys.modules, "ldpnb", None)
    with pytest.raises(ModuleNotFoundError):
        exec(first, {})


def test_verdicts_are_sections_that_the_ledger_leads_to(result: str, built: Path) -> None:
    front = (built / "ledger.html").read_text()
    for anchor, status in (("claim-biswas2022-theorem-2-1", "reproduced"), ("claim-demo-lemma-9", "refuted")):
        assert f'<section class="verdict {status}" id="{anchor}">' in result
        assert f'href="1_demo/01_line.html#{anchor}"' in front
    assert f"<strong>{typeset('Statistical test, false alarm <= 1e-6, power 0.99')}:</strong> <math" in front
    assert "<strong>What holds:</strong> it does not" in front
    assert symbols("A * b < c, says_it") in symbols(unescape(re.sub(r"<[^>]+>", "", result)))
    assert re.search(
        r'<a href="code/ldpnb/papers/biswas2022/section_2.py.html#L-\d+">The check of Theorem 2.1, as code</a>', front
    )


def test_tables_name_their_headings_drop_row_numbers_and_align_text(result: str) -> None:
    table = re.search(r'<div class="scroll"><table class="dataframe">.*?</table></div>', result, re.DOTALL)[0]
    assert re.findall(r"<t[hd].*?</t[hd]>", table) == [
        '<th scope="col" class="text">name</th>',
        '<th scope="col">value</th>',
        '<td class="text">a</td>',
        "<td>0.500000</td>",
        '<td class="text">b</td>',
        "<td>0.000001</td>",
    ]


def test_a_live_section_says_what_it_needs(result: str) -> None:
    assert '<pre class="output">1 &lt; 2\n</pre>' in result
    assert "The sliders of this section need Python: <code>make lab</code>" in result


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("../../ldpnb/rng.py#L3", "../../ldpnb/absent.py", "links to ../../ldpnb/absent.py, which does not exist"),
        ("hat a", "absent a", "formula must use known commands only"),
        ("frac{y}{x}", "left( y", "formula must be TeX that can be translated"),
        ('"execution_count": 1', '"execution_count": null', "not been executed; `ldpnb run 1_demo/01_line` does it"),
        ('"image/png": "iV', '"image/png": "iW', "a picture in it is not among its figures"),
    ],
)
def test_a_mistake_in_a_notebook_is_named(checkout: Path, old: str, new: str, message: str) -> None:
    change(checkout, old, new)
    with pytest.raises(UsageError, match=re.escape(message)) as error:
        result_again()
    assert "1_demo/01_line" in str(error.value)


def test_a_dead_link_stops_the_build_and_the_earlier_site_stays(checkout: Path, built: Path) -> None:
    shutil.copytree(built, checkout / "site")
    change(checkout, "../../ldpnb/rng.py#L3", "../../ldpnb/rng.py#L3000")
    with pytest.raises(UsageError, match=re.escape("01_line.html: ../code/ldpnb/rng.py.html#L-3000 leads nowhere")):
        builder.build(checkout / "site")
    assert contents(checkout / "site") == contents(built)
    assert [p.name for p in checkout.iterdir() if p.name.startswith(".")] == []


def test_a_folder_that_is_no_site_is_left_alone(checkout: Path) -> None:
    with pytest.raises(UsageError, match="output must be empty or an earlier site"):
        builder.build(checkout / "figures")
    assert (checkout / "figures/verdicts.csv").exists()


def test_the_usual_folder_holds_the_site_alone_and_is_made_again(checkout: Path) -> None:
    for _ in range(2):  # the second time beside what the first one kept
        made = CliRunner().invoke(cli, ["site"])
        assert made.exit_code == 0, made.output
    assert not (checkout / "build/site/vega").exists()
    assert (checkout / "build/kept/vega").is_dir()
    shutil.rmtree(checkout / "build/site")
    assert CliRunner().invoke(cli, ["site"]).exit_code == 0


@pytest.mark.parametrize(
    ("markup", "problem"),
    [
        ('<a href="absent.html">x</a>', "absent.html leads nowhere"),
        ('<a href="#absent">x</a>', "#absent leads nowhere"),
        ('<a href="#absent=a">x</a>', "#absent=a leads nowhere"),
        ('<a href="#top=a">x</a>', ""),
        ('<a href="../outside.txt">x</a>', "../outside.txt leads nowhere"),
        ('<script src="https://example.org/x.js"></script>', "asks a host for https://example.org/x.js"),
        ('<p id="a"></p><p id="a"></p>', "anchor a twice"),
        ('<img src="page.html">', "picture without alternative text: page.html"),
        ("<p><em>x</p>", "closes another element"),
        ("<em>x</em>", ""),
    ],
)
def test_what_is_wrong_with_a_page_is_found(tmp_path: Path, markup: str, problem: str) -> None:
    (tmp_path / "outside.txt").write_text("x")
    folder = tmp_path / "site"
    folder.mkdir()
    around = '<div id="top">{}</div><a href="#top">up</a><a href="https://example.org">there</a>'
    (folder / "page.html").write_text(around.format(markup))
    found = links.problems(folder)
    assert len(found) == bool(problem), found
    assert all(problem in line for line in found)


def report(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["report", *arguments])


def test_the_report_has_three_formats_and_takes_the_file_name_for_one(checkout: Path) -> None:
    committed = (checkout / "figures/verdicts.csv").read_text()
    assert r"- **Theorem 2.1: reproduced.** $A\cdot b<c$, says_it." in report().stdout
    assert r"  - Decided for all parameters: $n\ge 1$" in report().stdout
    assert report("--format", "csv").stdout == committed
    assert report("--output", str(checkout / "ledger.csv")).stdout == ""
    assert (checkout / "ledger.csv").read_text() == committed
    page = report("--format", "html").stdout
    assert "<math" in page
    assert not re.search(r'(href|src)="(?!#|data:)', page)


def test_a_report_that_cannot_be_written_leaves_nothing(checkout: Path) -> None:
    (checkout / "a file").touch()
    below_a_file = report("--output", str(checkout / "a file/x.md")).exception
    assert isinstance(below_a_file, OSError)
    assert "'pdf' is not one of" in report("--format", "pdf").stderr
    (checkout / "figures/verdicts.csv").unlink()
    no_ledger = report("--output", str(checkout / "x.md")).exception
    assert str(no_ledger) == "no figures/verdicts.csv; `ldpnb run 99_verdicts` writes it"
    assert not (checkout / "x.md").exists()


def test_pages_are_published_from_the_same_command() -> None:
    workflow = yaml.safe_load((Path(__file__).parents[2] / ".github/workflows/pages.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert "make site" in [step.get("run") for step in steps]
    assert {"path": "build/site"} in [step.get("with") for step in steps]
    assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in workflow["jobs"]["build"]


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_committed_site_is_the_same_to_the_byte_when_made_again(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages, before = sources.code_pages, contents(site)
    monkeypatch.setattr(sources, "code_pages", lambda of: pages([m for m in of if m in MODULES]))
    drawn = random.SystemRandom().sample([n.id for n in catalogue.catalogue()], 5)

    def page(notebook: catalogue.Notebook, *given: object) -> str:
        return notebook_page(notebook, *given) if notebook.id in drawn else before[f"{notebook.id}.html"].decode()

    monkeypatch.setattr(builder, "notebook_page", page)
    again = dict(builder.files(explore.grids([catalogue.find("03_cluster")], 12)))
    del again[CODE]  # the list of all modules
    for path, content in again.items():
        assert before[path] == (content.encode() if isinstance(content, str) else content.read_bytes()), path
    assert [path for path in before.keys() - again.keys() if not path.startswith("code/")] == []


def test_every_published_figure_and_table_is_shown_once_with_its_files(site: Path) -> None:
    pages = {n.id: (site / f"{n.id}.html").read_text() for n in catalogue.catalogue()}
    pages["."] = (site / "ledger.html").read_text()
    for about in (home() / "figures").rglob("*.json"):
        stem = about.relative_to(home() / "figures").with_suffix("")
        page, folder = pages[stem.parent.as_posix()], f"{stem.parent.name}/".lstrip("/")
        assert ("encoding" in json.loads(about.read_text())) == about.with_suffix(".png").exists(), f"{about}: no chart"
        for path in about.parent.glob(f"{about.stem}.*"):
            if path.suffix in (".pdf", ".csv", ".tex"):
                assert page.count(f'href="{folder}{path.name}" download') == 1, path
        assert page.count(f'<img src="{folder}{about.stem}.png"') == about.with_suffix(".png").exists(), about


def test_every_claim_is_worded_on_its_page_as_in_the_ledger(site: Path) -> None:
    for claim in entries.entries():
        path, _, anchor = claim.page.partition("#")
        section = re.search(rf'id="{anchor}">.*?</section>', (site / path).read_text(), re.DOTALL)
        assert section, claim.claim
        text = symbols(unescape(re.sub(r"<[^>]+>", " ", section[0])))
        assert symbols(f"{claim.place}: {claim.status}.") in text, claim.claim
        for part in (claim.says.rstrip(".")[1:], claim.evidence, claim.corrected, claim.assumption):
            assert symbols(part) in text, claim.claim


def test_the_ledger_lists_every_claim_with_what_it_is_chosen_by(site: Path) -> None:
    page, claims = (site / "ledger.html").read_text(), entries.entries()
    for name in ("source", "status", "reach", "kind"):
        chosen_by = Counter(re.findall(rf'<li[^>]*data-{name}="([^"]+)"', page))
        assert chosen_by == Counter(getattr(c, name) for c in claims)
        assert all(f"<option>{value}</option>" in page for value in chosen_by)


def test_a_function_names_the_claims_that_rest_on_it_and_they_name_it(site: Path) -> None:
    ledger, pages = (site / "ledger.html").read_text(), {}
    for claim in entries.entries():
        for path in claims.find(claim.claim).rests_on:
            assert f'href="{reference.link(path)}"' in ledger
            if path in reference.items():
                room = reference.items()[path].room
                page = pages.setdefault(room, (site / f"api/{room}.html").read_text())
                assert f'href="../{claim.page}"' in page[page.index(f'id="{path}"') :].split("<h2")[0], path
    names = (site / reference.INDEX).read_text()
    functions = [n for n in ldpnb.__all__ if isinstance(getattr(ldpnb, n), type | FunctionType)]
    assert [n for n in functions if f"<code>ldp.{n}</code>" not in names] == []


def test_a_formula_of_a_docstring_is_set_and_code_stays_code(site: Path) -> None:
    page = (site / "api/privacy.html").read_text()
    loss = page[page.index('id="privacy.clusters.ClusterSample.loss"') :].split("<h3")[0]
    assert '<span class="formula"><math display="block">' in loss
    assert "<code>log_symmetric_ratio</code>" in loss
    assert "ClusterSample([1, 1, 1, 1], 1).loss" in unescape(re.sub(r"<[^>]+>", "", loss))


def test_the_paths_lead_to_every_notebook_and_the_glossary_names_what_exists(site: Path) -> None:
    paths = (home() / "notebooks/paths.md").read_text()
    assert [n.id for n in catalogue.catalogue() if f"]({n.id}.ipynb)" not in paths] == []
    glossary = (site / "glossary.html").read_text()
    named = re.findall(r"`(ldp\.\w+)`", (home() / "notebooks/glossary.md").read_text())
    assert len(named) > 20
    for name in named:
        address = next(i.address for i in reference.items().values() if i.public == name)
        assert f'<a href="{address}"><code>{name}</code></a>' in glossary
    assert all(f'<th scope="col">{source}</th>' in glossary for source in SOURCES)
    for page in site.rglob("*.html"):
        if "code" not in page.relative_to(site).parts:
            assert all(f'{text}.html">' in page.read_text() for text in ("paths", "glossary")), page


def test_every_section_of_the_tour_is_a_slide() -> None:
    tour = nbformat.read(home() / "notebooks/00_start_here.ipynb", as_version=4)
    shown = [c.metadata.get("slideshow", {}).get("slide_type") for c in tour.cells if c.source.startswith("#")]
    assert set(shown) <= {"slide", "skip"}
    assert shown.count("slide") > 8


def test_the_front_page_shows_results_and_every_notebook_with_its_counts(site: Path) -> None:
    page = (site / "index.html").read_text()
    claims = {c.claim: c for c in entries.entries()}
    for claim, figure in front.SURPRISING:
        assert claims[claim].status in ("refuted", "corrected") or claims[claim].source == "companion"
        assert re.search(rf'href="{claims[claim].page}">.*?<img src="{figure}.png"', page, re.DOTALL)
    for notebook in catalogue.catalogue():
        card = page[page.rindex("<li", 0, page.index(f'<a href="{notebook.id}.html">')) :].split("</li>")[0]
        own = Counter(c.status for c in claims.values() if c.notebook == notebook.id and c.source == notebook.source)
        assert Counter({word: int(n) for n, word in re.findall(r">(\d+) (\w+)</span>", card)}) == own
        assert ("<img" in card) == any((home() / "figures" / notebook.id).glob("*.png"))
