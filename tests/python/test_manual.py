"""The manual that scripts/build-manual makes: all its links lead somewhere, it requests nothing from another host, and its search
works without a server."""

import html.parser
import pathlib
import re
import shutil
import subprocess
import urllib.parse

import pytest

import browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Attributes whose address a browser loads when it shows the page.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src", "embed": "src", "object": "data"}
# Links that a browser does not follow by itself.
RELATIONS = {"next", "prev", "search", "index", "canonical"}

for module in ("sphinx", "furo", "myst_parser"):
    pytest.importorskip(module)


class Page(html.parser.HTMLParser):
    """What a page links to, what it loads, its styles, and the names of its places."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.styles, self.places, self._in_style = [], [], [], set(), False
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places |= {given.get("id"), given.get("name")}
        self._in_style = tag == "style"
        self.styles.append(given.get("style") or "")
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in RELATIONS:
            self.loaded.append(given["href"])
        elif given.get(LOADED.get(tag)):
            self.loaded.append(given[LOADED[tag]])

    def handle_data(self, data):
        if self._in_style:
            self.styles.append(data)


def addresses_in(style):
    """What a style sheet loads; pictures that it has in itself are not loaded."""
    found = re.findall(r"@import\s*[\"']([^\"']+)|url\(\s*(?:\"([^\"]*)\"|'([^']*)'|([^)\"']*))", style)
    return [address for one in found if not (address := "".join(one)).startswith("data:")]


def is_outside(address):
    """Whether another host, or the root of this one, would be asked."""
    return bool(re.match(r"[a-z]+:|/", address))


def build(script, directory):
    return subprocess.run([script, directory], capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    directory = tmp_path_factory.mktemp("built") / "manual"
    done = build(ROOT / "scripts/build-manual", directory)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout == f"{directory}/index.html\n"
    return directory


@pytest.fixture(scope="module")
def pages(manual):
    return {path: Page(path) for path in sorted(manual.rglob("*.html"))}


@pytest.fixture
def small(tmp_path):
    """A repository with a manual of two pages."""
    root = tmp_path / "repository"
    for name in ("docs/conf.py", "scripts/build-manual", "CMakeLists.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / "docs/README.md").write_text("# Small\n\n[first](first.md)\n")
    (root / "docs/index.rst").write_text(".. include:: README.md\n   :parser: myst_parser.sphinx_\n\n.. toctree::\n\n   first\n   second\n")
    (root / "docs/first.md").write_text("# First\n\n[build](../CMakeLists.txt) [docs](../scripts) [index](README.md) [there](second.md#a-place)\n")
    (root / "docs/second.md").write_text("# Second\n\n## A place\n")
    return root


def test_every_page_is_built(manual):
    wanted = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")} - {pathlib.Path("README.html")}
    assert wanted <= {path.relative_to(manual) for path in manual.rglob("*.html")}
    assert len(wanted) > 30


def test_every_link_leads_to_a_file_and_a_place(pages):
    wrong = []
    for path, page in pages.items():
        for link in page.links:
            address = urllib.parse.urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(address.path)).resolve() if address.path else path
            if not target.exists():
                wrong.append(f"{path.name}: {link}")
            elif address.fragment and target in pages and address.fragment not in pages[target].places:
                wrong.append(f"{path.name}: {link} (no such place)")
    assert wrong == []


def test_no_page_loads_anything_from_another_host(pages):
    found = {path.name: outside for path, page in pages.items()
             if (outside := [one for one in page.loaded + addresses_in("\n".join(page.styles)) if is_outside(one)])}
    assert found == {}
    assert all(page.loaded for page in pages.values())


def test_no_style_sheet_loads_anything_from_another_host(manual):
    sheets = list(manual.rglob("*.css"))
    assert {sheet.name: outside for sheet in sheets if (outside := [one for one in addresses_in(sheet.read_text()) if is_outside(one)])} == {}
    assert "furo.css" in {sheet.name for sheet in sheets}


def test_the_check_finds_loaded_resources(tmp_path):
    page = tmp_path / "page.html"
    page.write_text('<link rel="stylesheet" href="//a"><link rel="next" href="b.html"><script src="https://c"></script>'
                    '<style>p { background: url("http://d") }</style><p style="background: url(/e)"><a href="https://f">f</a>')
    found = Page(page)
    assert found.loaded == ["//a", "https://c"] and found.links == ["https://f"]
    assert addresses_in("\n".join(found.styles)) == ["http://d", "/e"]
    assert addresses_in("@import 'g.css'; @import url(h.css); a { b: url('data:image/svg+xml,(i)') }") == ["g.css", "h.css"]
    assert [is_outside(one) for one in ("//a", "https://c", "/e", "g.css", "../h.css")] == [True, True, True, False, False]


@pytest.mark.skipif(browser.installed() is None, reason="chromium is not installed")
def test_search_works_on_files_and_requests_nothing_else(manual, tmp_path):
    with browser.Browser(tmp_path) as window:
        window.open(manual / "search.html", query="?q=accuracy")
        found = window.value("""new Promise((done) => {
          const look = () => {
            const links = [...document.querySelectorAll("#search-results li a")].map((one) => one.getAttribute("href"));
            links.length ? done(links) : setTimeout(look, 50);
          };
          look();
        })""")
        assert any(link.startswith("solve.html") for link in found), found
        window.open(manual / "notes/accuracy.html")
        theme = window.value("document.body.dataset.theme")
        assert window.value("(document.querySelector('.theme-toggle').click(), document.body.dataset.theme)") != theme
        assert window.complaints == []
        assert [one for one in window.requests if not one.startswith((manual.as_uri(), "data:"))] == []
        assert any(one.endswith("/searchindex.js") for one in window.requests)


@pytest.mark.parametrize("repository", ["", "https://example.org/fairlead/blob/main"])
def test_links_to_files_outside_the_pages(small, tmp_path, repository):
    """They go to the repository's address if the configuration has one, and to the checkout otherwise."""
    configuration = small / "docs/conf.py"
    text, changed = re.subn(r'^REPOSITORY = ".*"$', f'REPOSITORY = "{repository}"', configuration.read_text(), flags=re.MULTILINE)
    assert changed == 1
    configuration.write_text(text)
    done = build(small / "scripts/build-manual", tmp_path / "manual")
    assert (done.returncode, done.stderr) == (0, "")
    links = Page(tmp_path / "manual/first.html").links
    prefix = repository or "../repository"
    assert {f"{prefix}/CMakeLists.txt", f"{prefix}/scripts", "index.html", "second.html#a-place"} <= set(links)


def test_broken_links_and_a_page_outside_the_navigation_are_errors(small, tmp_path):
    broken = {"[a](third.md)": "third.md", "[a](second.md#nowhere)": "second.md#nowhere", "[a](#nowhere)": "#nowhere",
              "[a](../nothing.txt)": "../nothing.txt", "[a](../../outside.txt)": "../../outside.txt", "![a](nothing.png)": "nothing.png"}
    (tmp_path / "outside.txt").touch()
    (small / "docs/first.md").write_text("# First\n\n" + "\n\n".join(broken) + "\n")
    (small / "docs/lost.md").write_text("# Lost\n")
    done = build(small / "scripts/build-manual", tmp_path / "manual")
    assert done.returncode == 1
    for line, complaint in enumerate(broken.values()):
        assert re.search(rf"first\.md:{3 + 2 * line}: WARNING: .*{re.escape(complaint)}", done.stderr), done.stderr
    assert re.search(r"lost\.md: WARNING: document isn't included in any toctree", done.stderr)
    assert sorted(tmp_path.iterdir()) == [tmp_path / "outside.txt", small]


def test_only_a_manual_is_replaced(small, tmp_path):
    script, directory = small / "scripts/build-manual", tmp_path / "manual"
    directory.mkdir()
    (directory / "old.html").touch()
    done = build(script, directory)
    assert done.returncode == 1 and f"{directory} is not empty" in done.stderr
    assert (directory / "old.html").exists()
    (directory / ".buildinfo").touch()
    assert build(script, directory).returncode == 0
    assert (directory / "index.html").exists() and not (directory / "old.html").exists()
    assert build(script, "--help").returncode == 2
