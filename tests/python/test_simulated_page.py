"""The page that fairlead simulate --report writes: the order of the tasks over the tiles, and policies side by side."""

import json
import re
import subprocess

import pytest

import browser

pytestmark = pytest.mark.skipif(browser.installed() is None, reason="chromium is not installed")

RED, GREEN, BLUE, YELLOW, MAGENTA, CYAN, ORANGE = range(7)


def simulate(command, folder, *arguments):
    done = subprocess.run([command, "simulate", *map(str, arguments), "--machine", "v100-pcie", "--precision", "single",
                           "--report", "run.html"], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder / "run.html"


def opened(request, page, tmp_path_factory):
    window = browser.Browser(tmp_path_factory.mktemp("browser"))
    request.addfinalizer(lambda: window.__exit__(None, None, None))
    window.open(page)
    return window


@pytest.fixture(scope="module")
def three_by_three(command, request, tmp_path_factory):
    """Ten tasks on one device, in the order of the program: the tiles are large, copies are there in time."""
    page = simulate(command, tmp_path_factory.mktemp("page"), "cholesky", "--n", 3 * 15360, "--tile", 15360, "--gpus", 1,
                    "--memory", "16GiB", "--scheduler", "eager", "--trace", "run.pftrace")
    window = opened(request, page, tmp_path_factory)
    window.page = page
    return window


@pytest.fixture(scope="module")
def policies(command, request, tmp_path_factory):
    page = simulate(command, tmp_path_factory.mktemp("page"), "cholesky", "--n", 24 * 960, "--tile", 960, "--gpus", 2,
                    "--memory", "128MiB", "--scheduler", "eager,dmdas,darts", "--json", "run.json")
    window = opened(request, page, tmp_path_factory)
    window.figures = json.loads((page.parent / "run.json").read_text())
    return window


def choose(window, name, index):
    window.value("(() => { const s = document.getElementById('order-%s'); s.value = %d; s.dispatchEvent(new Event('change')) })()"
                 % (name, index))


def pixel(window, iteration, row, column, picture=0):
    """The colour in the middle of a cell: [red, green, blue, alpha]."""
    return window.value("""(() => {
      const {canvas} = order.pictures()[%d], {cell, list} = canvas.panels, dots = window.devicePixelRatio || 1;
      const {left} = list.find(({k}) => k === %d);
      return [...canvas.getContext('2d').getImageData((left + (%d + .4) * cell) * dots, (order.head + (%d + .4) * cell) * dots, 1, 1).data];
    })()""" % (picture, iteration, column, row))


def colour_of(window, pixel):
    """Which of the seven colours it is: the one with the nearest hue and mix, by the page's own list of shades."""
    return window.value("""((pixel) => {
      const paint = document.createElement('canvas').getContext('2d'), away = (shade) => {
        paint.fillStyle = shade; paint.fillRect(0, 0, 1, 1);
        const own = paint.getImageData(0, 0, 1, 1).data;
        return Math.hypot(own[0] - pixel[0], own[1] - pixel[1], own[2] - pixel[2]);
      };
      return order.shades.map((list, i) => [Math.min(...list.map(away)), i]).sort((a, b) => a[0] - b[0])[0][1];
    })(%s)""" % json.dumps(pixel))


def test_it_loads_without_errors_or_network_requests(three_by_three, policies):
    for window in (three_by_three, policies):
        assert window.complaints == []
        assert len(window.requests) == 1


def test_the_page_of_one_policy_has_all_parts_of_a_real_run(three_by_three):
    assert three_by_three.value("workers.length === 1 && workers[0].tasks.count === 10 && links.length >= 1 && nodes.length >= 1")
    assert "simulated" in three_by_three.value("document.querySelector('h1').textContent")
    assert "simulated v100-pcie" in three_by_three.value("document.querySelector('header p').textContent")
    titles = three_by_three.value("[...document.querySelectorAll('h2')].map((one) => one.textContent)")
    assert {"The order in which tasks started", "Compared with the bounds", "Links", "Memory", "Workers", "Kinds of task"} <= set(titles)
    assert (three_by_three.page.parent / "run.pftrace").stat().st_size > 500


def test_each_task_is_at_its_tile_with_its_place_in_the_order(three_by_three):
    assert three_by_three.value("order.iterations") == [0, 1, 2]
    places = three_by_three.value("order.iterations.map((k) => [...order.grid(0, -1, k)])")
    assert places == [[0, -1, -1, 1, 3, -1, 2, 4, 5], [-1, -1, -1, -1, 6, -1, -1, 7, 8], [-1] * 8 + [9]]


def test_seven_colours_follow_each_other_and_begin_again(three_by_three):
    three_by_three.value("(order.state.span = 1, order.draw())")
    seen = {cell: colour_of(three_by_three, pixel(three_by_three, *cell)) for cell in
            [(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 1, 1), (0, 2, 1), (0, 2, 2), (1, 1, 1), (1, 2, 1), (1, 2, 2), (2, 2, 2)]}
    choose(three_by_three, "span", 1)
    assert list(seen.values()) == [RED, GREEN, BLUE, YELLOW, MAGENTA, CYAN, ORANGE, RED, GREEN, BLUE]


def test_within_a_colour_later_is_darker(three_by_three):
    three_by_three.value("(order.state.span = 10, order.draw())")
    shades = [sum(pixel(three_by_three, *cell)[:3]) for cell in [(0, 0, 0), (0, 1, 0), (0, 2, 2), (1, 2, 2), (2, 2, 2)]]
    choose(three_by_three, "span", 1)
    assert shades == sorted(shades, reverse=True) and len(set(shades)) == 5


def test_a_tile_without_a_task_has_no_colour(three_by_three):
    empty = pixel(three_by_three, 1, 0, 0)
    assert max(empty[:3]) - min(empty[:3]) < 8 and empty[3] == 255
    assert pixel(three_by_three, 0, 0, 2)[3] == 0  # above the diagonal there is nothing


def test_hovering_over_a_task_shows_its_name(three_by_three):
    x, y = three_by_three.value("""(() => {
      const {canvas} = order.pictures()[0];
      canvas.scrollIntoView({block: 'center'});
      const {cell, list} = canvas.panels, at = canvas.getBoundingClientRect();
      return [at.left + list[1].left + 1.5 * cell, at.top + order.head + 2.5 * cell];
    })()""")
    three_by_three.mouse("mouseMoved", x, y)
    text = three_by_three.value("document.getElementById('order-tip').hidden ? null : document.getElementById('order-tip').textContent")
    assert text == "trsm \u2192 A[2,1]\n8 of 10, iteration 2"


def test_the_square_has_as_many_tiles_as_fit_in_a_memory(policies):
    tiles = 128 * 2**20 // (960 * 960 * 4)
    assert policies.value("order.about.memory_tiles") == tiles and policies.value("order.marked")
    assert f"as many tiles as fit in the memory of one device: {tiles}." in policies.value("document.getElementById('order-notes').textContent")
    corner = policies.value("""(() => {
      const {canvas} = order.pictures()[0], {cell, list} = canvas.panels, dots = window.devicePixelRatio || 1;
      const side = Math.sqrt(order.about.memory_tiles) * cell;
      const ink = (x, y) => canvas.getContext('2d').getImageData(x * dots, y * dots, 1, 1).data[3];
      const left = list[0].left + order.about.columns * cell - side - 1, top = order.head + 1;
      return [ink(left, top + side / 2), ink(left + side / 2, top + side), ink(left + side / 2, top + side / 2)];
    })()""")
    assert corner[0] > 60 and corner[1] > 60 and corner[2] == 0


def test_four_iterations_at_first_and_others_by_slider_and_buttons(policies):
    def shown():
        return policies.value("order.pictures()[0].canvas.panels.list.map(({k}) => k)")

    assert shown() == [0, 1, 2, 3]
    policies.value("document.getElementById('order-on').click()")
    assert shown() == [4, 5, 6, 7]
    policies.value("(() => { const s = document.getElementById('order-first'); s.value = 99; s.dispatchEvent(new Event('input')) })()")
    assert shown() == [20, 21, 22, 23]
    choose(policies, "shown", 1)
    assert shown() == [20, 21]
    choose(policies, "shown", 2)
    policies.value("(() => { const s = document.getElementById('order-first'); s.value = 1; s.dispatchEvent(new Event('input')) })()")
    assert shown() == [0, 1, 2, 3]


def test_each_policy_and_each_device_can_be_shown_alone(policies):
    def captions():
        return policies.value("[...document.querySelectorAll('#order figcaption')].map((one) => one.textContent)")

    def drawn(picture):
        return policies.value("order.pictures()[%d].canvas.panels.list.reduce((sum, {cells}) => sum + cells.filter((c) => c >= 0).length, 0)" % picture)

    assert captions() == ["eager", "dmdas", "darts"]
    together = drawn(2)
    assert together == sum((24 - k) * (25 - k) // 2 for k in range(4))
    choose(policies, "run", 2)
    choose(policies, "device", 1)
    assert captions() == ["darts, v100 0", "darts, v100 1"]
    assert drawn(0) > 0 and drawn(1) > 0 and drawn(0) + drawn(1) == together
    choose(policies, "device", 3)
    assert captions() == ["darts, v100 1"]
    choose(policies, "device", 0)
    choose(policies, "run", 3)


def test_policies_order_their_tasks_differently(policies):
    orders = policies.value("order.runs.map(({place}) => [...place].join())")
    assert len(set(orders)) == 3


def test_the_table_has_the_figures_of_the_json(policies):
    rows = policies.value("[...document.querySelectorAll('#compared table')][0].innerText.split('\\n').map((row) => row.split('\\t').map((cell) => cell.trim()))")
    heads, table = rows[0], {row[0]: row[1:] for row in rows[1:]}
    assert {"policy", "time", "% of peak", "to devices", "demand", "from devices", "eviction", "flush", "peak memory", "evictions"} <= set(heads)
    for figures in policies.figures:
        row = dict(zip(heads[1:], table[figures["scheduler"]]))
        assert row["% of peak"] == f"{figures['percent_of_peak']:.1f}"
        assert row["evictions"] == f"{figures['evictions']:,}"
        number, unit = row["to devices"].split()
        assert float(number) * {"GB": 1e9, "MB": 1e6}[unit] == pytest.approx(figures["bytes_to_devices"], rel=0.01)
    bound = dict(zip(heads[1:], table["lower bound"]))["to devices"].split()
    assert float(bound[0]) * {"GB": 1e9, "MB": 1e6}[bound[1]] == pytest.approx(policies.figures[0]["lower_bound_bytes"], rel=0.01)


def test_bars_are_as_long_as_their_times(policies):
    widths = policies.value("[...document.querySelector('.bars').querySelectorAll('i')].map((one) => one.getBoundingClientRect().width)")
    times = [figures["seconds"] for figures in policies.figures]
    assert widths == pytest.approx([max(widths) * time / max(times) for time in times], rel=0.02)
    mark = policies.value("(() => { const bar = document.querySelector('.bars > div'), b = bar.querySelector('b'); return (b.getBoundingClientRect().left - bar.getBoundingClientRect().left) / bar.getBoundingClientRect().width })()")
    assert mark == pytest.approx(policies.figures[0]["compute_bound_seconds"] / max(times), rel=0.02)


def test_it_is_redrawn_in_dark_mode(policies):
    light = pixel(policies, 3, 0, 0)
    policies.value("document.getElementById('theme').click()")
    dark = pixel(policies, 3, 0, 0)
    policies.value("theme('light')")
    assert sum(light[:3]) > 600 and sum(dark[:3]) < 150


def test_a_hundred_thousand_tasks_are_drawn_at_once(command, tmp_path):
    """85 x 85 tiles: 105,995 tasks."""
    page = simulate(command, tmp_path, "cholesky", "--n", 85 * 960, "--tile", 960, "--gpus", 1, "--memory", "2000MiB",
                    "--scheduler", "eager,dmdas")
    assert page.stat().st_size < 3_000_000
    with browser.Browser(tmp_path / "browser") as window:
        window.open(page)
        assert window.complaints == [] and window.worked() < 4
        assert window.value("order.pictures()[0].canvas.panels.cell") >= 3  # pixels to a task
        before = window.worked()
        window.value("(() => { for (let i = 0; i < 5; ++i) order.draw(); })()")
        assert (window.worked() - before) / 5 < 0.5


def test_one_of_two_alternating_matrices_is_drawn_with_a_note(command, tmp_path):
    """Life has two layers of four slabs: of five iterations the first, third and fifth write the one that is drawn."""
    page = simulate(command, tmp_path, "life:iterations=5", "--n", 512, "--tile", 128, "--gpus", 1, "--scheduler", "eager")
    with browser.Browser(tmp_path / "browser") as window:
        window.open(page)
        assert window.complaints == []
        assert window.value("[order.about.rows, order.about.columns]") == [4, 1]
        assert window.value("order.iterations") == [0, 2, 4]
        assert window.value("order.iterations.every((k) => order.grid(0, -1, k).every((task) => task >= 0))")
        assert "iteration 3" in window.value("order.textOf(order.tasksOf.get(2)[0], 0).map((part) => part.textContent || part).join('')")
        assert "8 tasks write no tile of" in window.value("document.getElementById('order-notes').textContent")


def test_a_trace_is_of_one_run(fairlead):
    done = fairlead("simulate", "cholesky", "--scheduler", "eager,darts", "--trace", "run.pftrace")
    assert done.returncode != 0 and re.search("--trace .*one policy", done.stderr)
    assert not (fairlead.folder / "run.pftrace").exists()


@pytest.mark.parametrize("width", [1400, 500, 390])
def test_nothing_is_wider_than_the_window(three_by_three, policies, width):
    for window in (three_by_three, policies):
        window.resize(width)
        found = window.overflowing()
        window.resize(1400)
        assert found == []


def test_times_of_policies_have_no_exponent(policies):
    """The last two as if it had been a long run."""
    times = policies.value("""(() => {
      const {about, time} = timelines, kept = about.seconds, short = [0, 0.1234, 0.9997].map(time);
      about.seconds = 2000;
      const long = [12.3, 1500].map(time);
      about.seconds = kept;
      return [...short, ...long];
    })()""")
    assert times == ["0", "123 ms", "1000 ms", "12.3 s", "1500 s"]


def test_policies_are_on_one_axis_of_time(policies):
    """A row for each device under each policy, as busy as the run was, with the kinds of task that ran."""
    assert policies.value("timelines.runs.map((run) => [run.name, run.rows.length])") == [["eager", 2], ["dmdas", 2], ["darts", 2]]
    assert set(policies.value("timelines.about.kinds")) == {"gemm", "syrk", "trsm", "potrf"}
    shares = policies.value("""timelines.runs.map((run) => run.rows.flatMap((row) => row.pieces).reduce((sum, [begin, end, shares]) =>
      sum + (end - begin) * shares.reduce((all, [, share]) => all + share, 0), 0) / 100 / timelines.about.steps * timelines.about.seconds)""")
    # The same tasks on the same devices take the same time, in whatever order.
    assert max(shares) == pytest.approx(min(shares), rel=0.01)
    last = policies.value("""timelines.runs.map((run) => Math.max(...run.rows.flatMap((row) => row.pieces.map(([, end]) => end)))
      / timelines.about.steps * timelines.about.seconds)""")
    for end, seconds in zip(last, policies.value("timelines.runs.map((run) => run.seconds)")):
        assert end <= seconds * 1.01
    policies.value("document.getElementById('timeline-plot').scrollIntoView()")
    x, y = policies.value("""(() => {
      const {row, y} = timelines.places()[0], box = document.getElementById("timeline-plot").getBoundingClientRect();
      const [begin, end] = row.pieces[Math.floor(row.pieces.length / 2)];
      return [box.right - 1 - (box.width * 0.9) * (1 - (begin + end) / 2 / timelines.about.steps), box.top + y + 4];
    })()""")
    policies.mouse("mouseMoved", x, y)
    assert ", at " in policies.value("document.getElementById('timeline-tip').textContent")
