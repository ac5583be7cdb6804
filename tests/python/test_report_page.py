"""The page that --report writes, opened in a browser: it draws, zooms, shows details, and needs no network."""

import json
import re
import time
from xml.etree import ElementTree

import pytest

import browser

pytestmark = pytest.mark.skipif(browser.installed() is None, reason="chromium is not installed")

KINDS = {"gemm", "syrk", "trsm", "potrf"}


def bench(command, folder, *arguments):
    import subprocess
    done = subprocess.run([command, "bench", "cholesky", "--report", "run.html", "--json", "run.json", "--workers", "2",
                           "--scheduler", "darts", *map(str, arguments)],
                          cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder / "run.html"


@pytest.fixture(scope="module")
def page(command, tmp_path_factory):
    """A run of 12 x 12 tiles in a quarter of their memory."""
    return bench(command, tmp_path_factory.mktemp("page"), "--n", 1536, "--tile", 128)


@pytest.fixture(scope="module")
def shown(page, tmp_path_factory):
    with browser.Browser(tmp_path_factory.mktemp("browser")) as window:
        window.open(page)
        yield window


@pytest.fixture(autouse=True)
def whole_run(request):
    if "shown" in request.fixturenames:
        request.getfixturevalue("shown").value("(show(whole.from, whole.to), theme('light'), only = -1)")


def colours_in(window, kind):
    """How many colours there are in the rows of one kind, and how much of them is not the background."""
    return window.value("""(() => {
      const row = rows.find((one) => one.kind === "%s"), seen = new Map();
      const pixels = paint.getImageData(gutter * ratio, row.y * ratio, width * ratio, row.height * ratio).data;
      for (let i = 0; i < pixels.length; i += 4) {
        const colour = pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2];
        seen.set(colour, (seen.get(colour) || 0) + 1);
      }
      const most = Math.max(...seen.values());
      return {colours: seen.size, drawn: 1 - most / (pixels.length / 4)};
    })()""" % kind)


def middle_of(window, task):
    """Where on the screen the middle of a worker's task is, after zooming to it: (x, y)."""
    return window.value("""(() => {
      const row = rows.find((one) => one.kind === "worker"), {tasks} = row.worker, i = %s;
      const length = tasks.end[i] - tasks.start[i], middle = (tasks.start[i] + tasks.end[i]) / 2;
      show(middle - length, middle + length);
      const place = plot.getBoundingClientRect();
      return [place.left + x(middle), place.top + row.y + row.height / 2];
    })()""" % task)


def test_it_loads_without_errors_or_network_requests(shown, page):
    assert shown.complaints == []
    assert shown.requests == [page.resolve().as_uri()]
    assert not re.search(r"(src|href|url\()\s*=?\s*[\"']?\s*(https?:)?//", page.read_text())


def test_its_content_security_policy_forbids_requests(shown):
    asked = shown.value("fetch('http://127.0.0.1:9/').then(() => 'answered', () => 'refused')")
    assert asked == "refused"
    assert any("Content Security Policy" in complaint for complaint in shown.complaints)
    shown.complaints.clear()


@pytest.mark.parametrize("kind", ["worker", "traffic", "copies", "memory"])
def test_something_is_drawn_in_each_part(shown, kind):
    found = colours_in(shown, kind)
    assert found["colours"] >= 2 and found["drawn"] > 0.01, found


def test_a_row_without_tasks_would_be_empty(shown):
    shown.value("(window.kept = workers[0].tasks.count, workers[0].tasks.count = 0, workers[0].waits.kept = workers[0].waits.count, "
                "workers[0].waits.count = 0, redraw())")
    empty = colours_in(shown, "worker")
    shown.value("(workers[0].tasks.count = kept, workers[0].waits.count = workers[0].waits.kept, redraw())")
    assert empty["colours"] == 1, empty


def test_it_has_every_task_of_the_run_once(shown, page):
    report = json.loads((page.parent / "run.json").read_text())
    shown_of = shown.value("Object.fromEntries(info.codelets.map((name, c) => [name, workers.reduce((sum, w) => "
                           "sum + w.tasks.codelet.filter((one) => one === c).length, 0)]))")
    nt = report["tiles"]
    assert shown_of["potrf"] == nt
    assert shown_of["trsm"] == shown_of["syrk"] == nt * (nt - 1) // 2
    assert shown_of["gemm"] == nt * (nt - 1) * (nt - 2) // 6
    assert sum(shown_of[kind] for kind in KINDS) == report["tasks"]


def test_tasks_of_a_worker_follow_each_other(shown):
    assert shown.value("workers.every(({tasks}) => tasks.lanes === 1 && tasks.start.every((s, i) => !i || s >= tasks.end[i - 1]))")


def test_bytes_on_links_are_those_of_the_report(shown, page):
    """Copies of the factorization's time, by direction: the chart and the engine's counters agree."""
    report = json.loads((page.parent / "run.json").read_text())
    phase = shown.value("info.phases.find((one) => one.name === 'factorization')")
    for direction, key in (("disk to RAM", "bytes_read"), ("RAM to disk", "bytes_written")):
        moved = shown.value("""links.filter((link) => link.name === "%s").reduce((sum, {copies}) => sum + copies.bytes.reduce(
          (all, bytes, i) => all + (copies.end[i] > %d && copies.end[i] <= %d ? bytes : 0), 0), 0)"""
                            % (direction, phase["start"], phase["end"]))
        assert moved == report[key]


def test_memory_never_exceeds_its_capacity(shown):
    assert shown.value("nodes.length") == 1
    assert shown.value("nodes[0].at.every((_, i) => nodes[0].bytes.reduce((sum, use) => sum + use[i], 0) <= nodes[0].capacity)")
    assert shown.value("Math.max(...nodes[0].bytes[0])") > 0


def test_hovering_over_a_task_shows_its_name_data_and_duration(shown):
    gemm = "row.worker.tasks.codelet.findIndex((c) => info.codelets[c] === 'gemm')"
    x, y = middle_of(shown, gemm)
    shown.mouse("mouseMoved", x, y)
    text = shown.value("tip.hidden ? null : tip.textContent")
    assert re.match(r"gemm A\[\d+,\d+\], A\[\d+,\d+\] \u2192 A\[\d+,\d+\]\n[\d.]+ (ns|\u00b5s|ms), from [\d.]+ s, worker 0$", text), text
    shown.mouse("mouseMoved", 5, 5)
    assert shown.value("tip.hidden")


def test_hovering_over_a_copy_shows_datum_bytes_and_cause(shown):
    x, y = shown.value("""(() => {
      const row = rows.find((one) => one.kind === "copies"), {copies} = row.link;
      show(copies.start[0] - 2 * (copies.end[0] - copies.start[0]), copies.end[0] + 2 * (copies.end[0] - copies.start[0]));
      const place = plot.getBoundingClientRect();
      return [place.left + x((copies.start[0] + copies.end[0]) / 2), place.top + row.y + 4];
    })()""")
    shown.mouse("mouseMoved", x, y)
    assert re.match(r"(demand|prefetch) A\[\d+,\d+\], 131 kB, ", shown.value("tip.textContent"))


def test_numbers_have_three_digits_and_no_exponent(shown):
    assert shown.value("[999.6e6, 1e9, 123456, 12].map(moved)") == ["1.00 GB", "1.00 GB", "123 kB", "12 B"]
    assert shown.value("[1023 * 2 ** 20, 2 ** 30, 0].map(stored)") == ["1023 MiB", "1.00 GiB", "0 B"]
    assert shown.value("[999.7e6, 1.5e9, 1234567e9].map((ns) => duration(ns / info.tick_ns))") == ["1.00 s", "1.50 s", "1234567 s"]


def test_far_away_tasks_are_counted(shown):
    place = shown.value("(() => { const place = plot.getBoundingClientRect(), row = rows.find((one) => one.kind === 'worker');"
                        "const phase = info.phases.find((one) => one.name === 'factorization');"
                        "const part = (phase.end - phase.start) / 2; show(phase.start + part - 1e9, phase.start + part + 1e9);"
                        "return [x(phase.start + part) + place.left, place.top + row.y + 20] })()")
    for step in range(-30, 31):
        shown.mouse("mouseMoved", place[0] + 8 * step, place[1])
        text = shown.value("tip.textContent")
        if re.match(r"\d+ tasks in ", text):
            return
    pytest.fail("nowhere are several tasks within one pixel")


def test_wheel_keys_drag_and_buttons_move_the_view(shown):
    def span():
        return shown.value("[view.from, view.to]")

    place = shown.value("(() => { const place = plot.getBoundingClientRect(); return [place.left + gutter + width / 2, place.top + 60] })()")
    whole = span()
    shown.mouse("mouseWheel", *place, deltaX=0, deltaY=-200, modifiers=2)  # with Ctrl
    wheeled = span()
    assert wheeled[1] - wheeled[0] < 0.8 * (whole[1] - whole[0])
    shown.value("plot.focus()")
    shown.key("+")
    nearer = span()
    assert nearer[1] - nearer[0] < 0.7 * (wheeled[1] - wheeled[0])
    shown.key("ArrowRight")
    right = span()
    assert right[0] > nearer[0] and right[1] - right[0] == pytest.approx(nearer[1] - nearer[0])
    shown.mouse("mousePressed", *place, button="left", buttons=1, clickCount=1)
    shown.mouse("mouseMoved", place[0] + 100, place[1], button="left", buttons=1)
    shown.mouse("mouseReleased", place[0] + 100, place[1], button="left", clickCount=1)
    assert span()[0] < right[0]
    shown.key("0")
    assert span() == whole
    shown.value("[...document.querySelectorAll('#spans button')].find((one) => one.textContent === 'factorization').click()")
    phase = shown.value("info.phases.find((one) => one.name === 'factorization')")
    assert span() == [phase["start"], phase["end"]]


def test_a_cancelled_drag_ends(shown):
    place = shown.value("(() => { const place = plot.getBoundingClientRect(); return [place.left + gutter + width / 2, place.top + 60] })()")
    shown.value("show(whole.to / 4, whole.to / 2)")
    before = shown.value("[view.from, view.to]")
    shown.mouse("mousePressed", *place, button="left", buttons=1, clickCount=1)
    shown.value("plot.dispatchEvent(new PointerEvent('pointercancel'))")
    shown.mouse("mouseMoved", place[0] + 100, place[1])
    assert shown.value("[view.from, view.to]") == before
    shown.mouse("mouseReleased", place[0] + 100, place[1], button="left", clickCount=1)


def test_a_tiny_share_is_shown_in_words(shown):
    share = "(() => { const kept = busyOf[0]; busyOf[0] = busy * %s; const text = shareOf(0); busyOf[0] = kept; return text })()"
    assert [shown.value(share % part) for part in ("0.5", "0.004", "1e-7", "0")] == ["50 %", "0.4 %", "< 0.01 %", "0 %"]


def test_without_a_click_the_wheel_scrolls_the_page(shown):
    shown.value("(plot.blur(), active = false)")
    before = shown.value("[view.from, view.to]")
    shown.mouse("mouseWheel", 700, 300, deltaX=0, deltaY=-200)
    assert shown.value("[view.from, view.to]") == before


def test_a_kind_of_task_can_be_shown_alone(shown):
    before = colours_in(shown, "worker")
    shown.value("document.querySelector('#legend button').click()")
    assert shown.value("only") >= 0
    assert shown.value("document.querySelector('#legend button').getAttribute('aria-pressed')") == "true"
    assert colours_in(shown, "worker") != before
    shown.value("document.querySelector('#legend button').click()")
    assert colours_in(shown, "worker") == before


def test_light_and_dark_differ(shown):
    light = shown.value("[getComputedStyle(document.body).backgroundColor, [...paint.getImageData(2, 2, 1, 1).data].join()]")
    shown.value("document.getElementById('theme').click()")
    dark = shown.value("[getComputedStyle(document.body).backgroundColor, [...paint.getImageData(2, 2, 1, 1).data].join()]")
    assert light[0] != dark[0] and light[1] != dark[1]


def test_a_dark_desktop_gets_a_dark_page(page, tmp_path):
    with browser.Browser(tmp_path, dark=True) as window:
        window.open(page)
        assert window.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"


def test_it_prints(shown):
    paper = shown.paper()
    assert paper.startswith(b"%PDF") and len(paper) > 20_000
    assert shown.value("document.documentElement.dataset.theme") == "light"  # as it was before


def test_the_tables_have_the_figures_of_the_report(shown, page):
    report = json.loads((page.parent / "run.json").read_text())
    tables = shown.value("[...document.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
    rows = {row[0]: row[1:] for row in tables}
    assert rows["tasks"][0] == f"{report['tasks']:,}"
    assert rows["backward error"][0] == f"{report['backward_error']:.2e}"
    assert {"floor", "lower bound", "measured", "tiled ceiling", "bound: critical path", "RAM", "worker 1", "gemm"} <= set(rows)


@pytest.mark.parametrize("width", [1400, 500, 390])
def test_nothing_is_wider_than_the_window(shown, width):
    shown.resize(width)
    try:
        assert shown.overflowing() == []
        # Legends in the chart end within it.
        cut = shown.value("""rows.filter((row) => row.kind === "title").flatMap((row) => row.names.filter((name, i) => {
          paint.font = "12px system-ui, sans-serif";
          return row.places[i][0] + 15 + paint.measureText(name).width > plot.clientWidth;
        }))""")
        assert cut == []
        # Each word of a name next to a row fits.
        assert shown.value("""names.flatMap((name) => name.split(" ")).filter((word) => fitted(word, gutter - 8) !== word)""") == []
    finally:
        shown.resize(1400)


def test_no_two_kinds_share_a_colour(shown):
    """Nor would forty."""
    assert shown.value("new Set(info.codelets.map((_, kind) => colourOf(kind))).size === info.codelets.length")
    for theme in ("light", "dark"):
        shown.value(f"theme('{theme}')")
        assert shown.value("new Set(kindColours(40)).size") == 40
    assert shown.value("""[...document.querySelectorAll("#legend button i")].map((one) => getComputedStyle(one).backgroundColor)
      .every((one, i, all) => all.indexOf(one) === i)""")


def test_the_limiting_factor_is_that_of_the_json(shown, page):
    report = json.loads((page.parent / "run.json").read_text())["limited_by"]
    assert shown.value("document.querySelector('.limit b').textContent") == report["description"]
    assert report["reason"] in shown.value("document.querySelector('.limit').textContent")


def test_the_time_and_the_axis_agree(shown, page):
    """The figure is the report's; where the axis shows more, the page says how much."""
    report = json.loads((page.parent / "run.json").read_text())
    whole = shown.value("(whole.to - whole.from) * info.tick_ns / 1e9")
    assert whole >= report["seconds"] * 0.98
    figure = shown.value("[...document.querySelectorAll('.figures div')].find((one) => one.querySelector('dt').textContent === 'time').textContent")
    said = re.search(r"of ([\d.]+) (us|ms|s) that are shown below", figure)
    assert said, figure  # generation, solve and error check are shown, and do not count
    assert float(said[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1}[said[2]] == pytest.approx(whole, rel=0.02)


def test_the_cap_of_a_link_is_drawn(command, tmp_path):
    """At its height, with its words; without a cap there is none."""
    page = bench(command, tmp_path, "--n", 1024, "--tile", 128, "--disk-bandwidth", "200MB/s")
    with browser.Browser(tmp_path / "browser") as window:
        window.open(page)
        drawn = window.value("svgOf(plot, draw)")
        assert window.complaints == []
    caps = re.findall(r">cap ([^<]*)/s<", drawn)
    assert caps and set(caps) == {"200 MB"}, caps


def test_a_picture_is_saved_as_svg_that_holds_what_is_drawn(shown):
    drawn = ElementTree.fromstring(shown.value("svgOf(plot, draw)"))
    space = "{http://www.w3.org/2000/svg}"
    assert drawn.tag == space + "svg"
    assert float(drawn.get("width")) == pytest.approx(shown.value("plot.clientWidth"), abs=1)
    words = {word for one in drawn.iter(space + "text") for word in one.text.split()}
    names = {word for name in shown.value("workers.map(({name}) => name)") for word in name.split()}
    assert len(names) > 2 and names <= words, words  # of a row that is narrow a name has two lines
    assert "cap" not in words
    # A box of a kind's colour for each of its tasks, or for several that are less than a pixel wide.
    fills = {one.get("fill") for one in drawn.iter(space + "rect")}
    assert set(shown.value("info.codelets.map((_, kind) => colourOf(kind))")) & fills
    # The button gives it to the browser as a file.
    saved = shown.value("""(() => {
      const before = HTMLAnchorElement.prototype.click, saved = [];
      HTMLAnchorElement.prototype.click = function() { saved.push(this.download, this.href.slice(0, 5)); };
      document.getElementById('save').click();
      HTMLAnchorElement.prototype.click = before;
      return saved;
    })()""")
    assert saved == ["run.svg", "blob:"]


def test_a_hundred_thousand_tasks_load_within_three_seconds(command, tmp_path):
    """85 x 85 tiles of 32: 105,995 tasks in the factorization alone. Of a processor, not of a clock."""
    page = bench(command, tmp_path, "--n", 2720, "--tile", 32, "--memory-fraction", 0.5)
    assert page.stat().st_size < 5_000_000
    with browser.Browser(tmp_path / "browser") as window:
        window.open(page)
        assert window.value("Number(document.documentElement.dataset.drawn)") > 0
        assert window.worked() < 3
        assert window.value("workers.reduce((sum, {tasks}) => sum + tasks.merged.reduce((a, b) => a + b, 0), 0)") > 100_000
        found = colours_in(window, "worker")
        assert found["colours"] > 10 and found["drawn"] > 0.02
        before = window.worked()
        window.value("(() => { for (let i = 0; i < 5; ++i) draw(); })()")
        assert (window.worked() - before) / 5 < 0.5
        before = window.worked()
        window.value("show(whole.to / 2, whole.to / 2 + whole.to / 1000)")
        assert window.worked() - before < 0.5
        assert window.complaints == []


def test_dropped_records_are_reported(command, tmp_path):
    page = bench(command, tmp_path, "--n", 1536, "--tile", 64, "--trace-memory", "128KiB")
    with browser.Browser(tmp_path / "browser") as window:
        window.open(page)
        note = window.value("document.getElementById('notes').textContent")
    assert re.search(r"not complete before [\d.]+ s: \d+ tasks, .* dropped to keep within .* --trace-memory allows more", note), note


def test_a_page_that_cannot_be_written_is_refused_before_the_run(fairlead):
    began = time.monotonic()
    done = fairlead("bench", "cholesky", "--n", 16384, "--report", "no/such/folder/run.html")
    assert done.returncode == 1 and "no/such/folder" in done.stderr
    assert time.monotonic() - began < 30
