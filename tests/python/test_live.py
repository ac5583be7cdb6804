"""The live page of a running program: in Chromium during runs, who may see it, several runs and ranks at once."""

import html
import json
import os
import pwd
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import pytest

import browser
import ranks

in_browser = pytest.mark.skipif(browser.installed() is None, reason="chromium is not installed")
ADDRESS = re.compile(r"fairlead: live page(?: of rank (\d+) on (\S+))?: (http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32}))\n")
# The matrix does not fit, and the limit of the bandwidth makes the run last some seconds, however fast the machine is.
WORK = ["bench", "cholesky", "--n", "1536", "--tile", "128", "--memory", "5MiB", "--workers", "2", "-q"]
SLOW = ["--disk-bandwidth", "12MB/s"]
ENDLESS = ["--disk-bandwidth", "1MB/s"]


class Run:
    """A command with pages: their addresses by rank, read from its standard error stream."""

    def __init__(self, line, folder, pages=1, **more):
        self.process = subprocess.Popen([str(word) for word in line], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True, **more)
        self.lines, self.addresses = [], {}
        for text in self.process.stderr:
            self.lines.append(text)
            if found := ADDRESS.fullmatch(text):
                self.addresses[int(found[1] or 0)] = found[3]
            if len(self.addresses) == pages:
                break
        self._rest = threading.Thread(target=lambda: self.lines.extend(self.process.stderr))
        self._rest.start()

    @property
    def address(self):
        return self.addresses[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.interrupt()
        self.process.wait(timeout=120)
        self._rest.join()

    def interrupt(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def status(self):
        return self.process.wait(timeout=120)


def fetch(address, path=""):
    """(status, text)"""
    base, _, query = address.partition("?")
    try:
        with urllib.request.urlopen(base + path + ("?" + query if query else ""), timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def state(address):
    status, text = fetch(address, "state")
    assert status == 200, text
    return json.loads(text)


@pytest.fixture
def window(tmp_path):
    with browser.Browser(tmp_path / "browser") as shown:
        yield shown


def number(part):
    return f"parseInt(document.getElementById('{part}').textContent.replace(/,/g, '')) || 0"


@in_browser
def test_the_page_follows_a_run_to_its_end(command, tmp_path, window):
    with Run([command, *WORK, *SLOW, "--live", 0], tmp_path) as run:
        window.visit(run.address)
        first = window.wait_for(number("percent"))
        assert window.value("part('run').textContent") == "Running"
        phase = window.value("part('phase').textContent")
        window.wait_for(f"part('phase').textContent !== '{phase}' || ({number('percent')}) > {first}")
        window.wait_for("document.querySelectorAll('#links tr').length > 0")
        assert window.value("part('nodes').children.length") == 1
        assert "RAM" in window.value("part('nodes').innerText")
        assert window.value("part('workers').children.length") == 2
        assert "bench cholesky" in window.value("part('program').textContent")
        assert window.value("part('tasks').textContent").endswith(" tasks")
        assert window.overflowing() == []
        assert run.status() == 0, run.lines
        window.wait_for("part('run').textContent.startsWith('Finished after')")
        assert window.value("part('percent').textContent") == "100 %"
        assert window.value("document.title").startswith("Run finished")
        origin = run.address.split("?")[0]
        assert all(asked.startswith(origin) or asked == "data:," for asked in window.requests)
        assert [text for text in window.complaints if "ERR_CONNECTION" not in text] == []  # the last request may be late


@in_browser
def test_two_runs_at_once_have_a_page_each(command, tmp_path, window):
    with (Run([command, *WORK, *ENDLESS, "--live", 0], tmp_path) as first,
          Run([command, *WORK, *ENDLESS, "--live", 0], tmp_path) as second):
        assert state(first.address)["process"] == first.process.pid
        assert state(second.address)["process"] == second.process.pid
        assert fetch(first.address.split("?")[0] + "?" + second.address.split("?")[1])[0] == 403
        window.visit(first.address)
        window.wait_for(f"part('where').textContent.includes('process {first.process.pid} ')")
        window.visit(second.address)
        window.wait_for(f"part('where').textContent.includes('process {second.process.pid} ')")
        second.interrupt()
        assert second.status() == 130
        window.wait_for("part('run').textContent.startsWith('Failed after')")
        assert "interrupted" in window.value("part('why').textContent")
        assert state(first.address)["run"] == "running"


@in_browser
def test_a_killed_run_is_a_lost_connection(command, tmp_path, window):
    with Run([command, *WORK, *ENDLESS, "--live", 0], tmp_path) as run:
        window.visit(run.address)
        window.wait_for("part('run').textContent === 'Running'")
        run.process.kill()
        window.wait_for("part('run').textContent === 'Connection lost'")
        assert "it was killed" in window.value("part('why').textContent")


def test_another_user_does_not_get_in(command, tmp_path):
    """Root can become another user; otherwise a request without the token stands for that user."""
    with Run([command, *WORK, *ENDLESS, "--live", 0], tmp_path) as run:
        base, token = run.address.split("?token=")
        looks = f"""
import pathlib, sys, urllib.error, urllib.request
for path in ("", "state", "end", "?token=", "state?token={'0' * 32}"):
    try:
        urllib.request.urlopen({base!r} + path, timeout=60)
        print("got in by", path)
    except urllib.error.HTTPError as error:
        print(error.code)
known = pathlib.Path("/proc/{run.process.pid}/cmdline").read_bytes()
try:
    known += pathlib.Path("/proc/{run.process.pid}/environ").read_bytes()
except OSError:
    pass
print({token!r}.encode() in known)
"""
        other = {"user": pwd.getpwnam("daemon").pw_uid, "group": pwd.getpwnam("daemon").pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        # Not by its link in an environment: the other user may not read the folder of that.
        seen = subprocess.run([os.path.realpath(sys.executable), "-c", looks], cwd="/", capture_output=True, text=True,
                              timeout=120, check=False, **other)
        assert seen.stdout.split() == ["403"] * 5 + ["False"], seen.stderr
        assert fetch(run.address)[0] == 200


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_each_of_four_ranks_has_a_page(command, tmp_path, launcher):
    line = [*ranks.LAUNCHERS[launcher], 4, command, *WORK, *ENDLESS, "--workers", 1, "--memory", "2200KiB", "--live", 0]
    with Run(line, tmp_path, pages=4, env=ranks.ENVIRONMENT) as run:
        assert sorted(run.addresses) == [0, 1, 2, 3]
        states = {rank: state(address) for rank, address in run.addresses.items()}
        assert {rank: one["rank"] for rank, one in states.items()} == {rank: rank for rank in range(4)}
        assert {one["ranks"] for one in states.values()} == {4}
        assert len({one["process"] for one in states.values()}) == 4
        assert fetch(run.addresses[1].split("?")[0] + "?" + run.addresses[2].split("?")[1])[0] == 403
        if browser.installed() is not None:
            with browser.Browser(tmp_path / "browser") as window:
                window.visit(run.addresses[3])
                window.wait_for("part('where').textContent.includes('rank 3 of 4; each rank has its own page')")
                window.wait_for("part('where').textContent.includes(' messages and ')")


def consecutive_free_ports(count):
    """The first of so many ports. Another process may take one before it is used: the caller tries again."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            first = probe.getsockname()[1]
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError):
            continue
        return first


def test_rank_r_uses_the_port_plus_r(command, tmp_path):
    for _ in range(5):
        port = consecutive_free_ports(4)
        with Run([command, *WORK, *ENDLESS, "--memory", "2200KiB", "--workers", 1, "--ranks", 4, "--live", port], tmp_path, pages=4) as run:
            if len(run.addresses) < 4:
                continue
            assert {rank: f":{port + rank}/" in address for rank, address in run.addresses.items()} == dict.fromkeys(range(4), True)
            return
    pytest.fail("no four ports stay free")


def test_a_port_in_use_is_an_error_before_the_run(fairlead):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = fairlead(*WORK, "--live", port)
    assert done.returncode == 1
    assert f"the live page cannot be served at 127.0.0.1: port {port} is in use; give another one, or 0 for a free port" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("options, words", [
    (["--live", 65536], "65535"),
    (["--live", "yes"], "not a whole number"),
    (["--live", 0, "--live-address", "localhost"], "give a numeric address"),
    (["--live", 65535, "--ranks", 2], "the live page of rank 1 would have port 65536"),
])
def test_an_invalid_port_or_address_is_a_usage_error(fairlead, options, words):
    done = fairlead(*WORK, *options)
    assert done.returncode == 2
    assert words in done.stderr


def test_without_the_token_only_on_request(command, tmp_path):
    with subprocess.Popen([command, *WORK, *ENDLESS, "--live", "0", "--no-live-token"], cwd=tmp_path, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as process:
        address = re.fullmatch(r"fairlead: live page: (http://127\.0\.0\.1:\d+/)\n", process.stderr.readline())[1]
        assert state(address)["run"] == "running"
        process.send_signal(signal.SIGINT)


@pytest.fixture
def runtime(fl):
    with fl.Runtime(memory="16MiB", workers=1) as rt:
        yield rt


def test_the_address_is_a_link_in_notebooks(runtime):
    address = runtime.live()
    assert ADDRESS.fullmatch(f"fairlead: live page: {address}\n")
    assert runtime.live() == address
    assert address._repr_html_() == (
        f'<a href="{html.escape(address)}" target="_blank" rel="noopener noreferrer">{address.split("?")[0]}</a>')
    assert state(address)["run"] == "running"


def test_a_port_that_cannot_be_used_is_an_exception(fl, runtime):
    port = int(runtime.live().split(":")[2].split("/")[0])
    with fl.Runtime(memory="16MiB", workers=1) as other:
        with pytest.raises(OSError, match=f"port {port} is in use"):
            other.live(port)
        with pytest.raises(ValueError, match="from 0 to 65535"):
            other.live(65536)


@in_browser
def test_the_page_shows_why_nothing_runs(fl, runtime, window):
    """The only worker is the thread of the runtime, which works while the program waits."""

    @fl.codelet
    def scale(x: fl.InOut):
        x *= 2

    window.visit(runtime.live())
    window.wait_for("part('why').textContent.startsWith('All tasks submitted so far have finished')")
    x = runtime.data([1.0], name="x")
    flow = runtime.flow()
    flow.submit(scale, x)
    runtime.flush()
    window.wait_for("part('why').textContent.startsWith('The submitted tasks have not reached the workers')")
    flow.wait()
    window.wait_for("part('tasks').textContent === '1 of 1 tasks submitted so far'")
    # A stall of the engine, in two states in a row.
    stalled = "show({...last, stalled: true, waits: ['scale(x) waits for memory']})"
    assert window.value(f"({stalled}, {stalled}, [part('run'), part('waits-title'), part('waits')].map((one) => one.textContent))") == [
        "Nothing runs", "Why nothing runs", "scale(x) waits for memory"]
    runtime.close()
    window.wait_for("part('run').textContent.startsWith('Finished after')")


@pytest.mark.skipif("not config.getoption('--long')")
@in_browser
def test_a_run_of_half_a_minute(command, tmp_path, window):
    with Run([command, *WORK, "--disk-bandwidth", "2MB/s", "--live", 0], tmp_path) as run:
        window.visit(run.address)
        seen = []
        while run.process.poll() is None:
            seen.append(window.value(f"[part('phase').textContent, {number('percent')}]"))
        window.wait_for("part('run').textContent.startsWith('Finished after')")
        factored = [percent for phase, percent in seen if phase == "Factorization"]
        assert factored == sorted(factored) and len(set(factored)) > 10
