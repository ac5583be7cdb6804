"""The file that --trace writes, read by the rules of protocol buffers alone; field numbers are those of Perfetto's
trace_packet.proto, track_descriptor.proto, track_event.proto and counter_descriptor.proto."""

import collections
import json
import re
import subprocess

import pytest


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value, at
        shift += 7


def fields(data):
    """{number: [values]} of one message: integers, and bytes for strings and messages within."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        elif kind == 2:
            length, at = varint(data, at)
            assert at + length <= len(data), "a field reaches beyond its message"
            value, at = data[at:at + length], at + length
        else:
            raise AssertionError(f"wire type {kind} is not used here")
        found[number].append(value)
    return found


Slice = collections.namedtuple("Slice", "track begin end name category notes")
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


class Trace:
    def __init__(self, data):
        self.tracks, self.slices, self.counters, self.instants = {}, [], collections.defaultdict(list), []
        open_slices = collections.defaultdict(list)
        for packet in map(fields, fields(data)[1]):
            if 60 in packet:
                descriptor = fields(packet[60][0])
                thread = fields(descriptor[4][0]) if 4 in descriptor else {}
                name = descriptor.get(2) or thread.get(5) or [b""]
                self.tracks[descriptor[1][0]] = {
                    "name": name[0].decode(), "parent": descriptor.get(5, [None])[0], "thread": 4 in descriptor,
                    "process": 3 in descriptor, "unit": fields(descriptor[8][0])[3][0] if 8 in descriptor else None}
                continue
            (at,), event = packet[8], fields(packet[11][0])
            assert packet[10] == [1]
            (kind,), (track,) = event[9], event[11]
            assert track in self.tracks, "an event before its track"
            if kind == BEGIN:
                notes = {fields(one)[10][0].decode(): (fields(one).get(6) or fields(one).get(3))[0] for one in event[4]}
                open_slices[track].append((at, event[23][0].decode(), event[22][0].decode(), notes))
            elif kind == END:
                begin, name, category, notes = open_slices[track].pop()
                self.slices.append(Slice(track, begin, at, name, category, notes))
            elif kind == COUNTER:
                self.counters[self.tracks[track]["name"]].append((at, event[30][0]))
            else:
                self.instants.append(event[23][0].decode())
        assert not any(open_slices.values()), "a slice has no end"

    def of(self, category):
        return [one for one in self.slices if one.category == category]


def bench(command, folder, *arguments):
    done = subprocess.run([command, "bench", "cholesky", "--trace", "run.pftrace", "--json", "run.json", "--workers", "2",
                           "--scheduler", "darts", *map(str, arguments)],
                          cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done, Trace((folder / "run.pftrace").read_bytes()), json.loads((folder / "run.json").read_text())


@pytest.fixture(scope="module")
def run(command, tmp_path_factory):
    """12 x 12 tiles in a quarter of their memory."""
    return bench(command, tmp_path_factory.mktemp("trace"), "--n", 1536, "--tile", 128)


def test_every_task_of_the_factorization_is_there_once(run):
    _, trace, report = run
    count = collections.Counter(one.name for one in trace.of("task"))
    nt = report["tiles"]
    assert (count["potrf"], count["trsm"], count["syrk"]) == (nt, nt * (nt - 1) // 2, nt * (nt - 1) // 2)
    assert count["gemm"] == nt * (nt - 1) * (nt - 2) // 6
    updates = [one.notes["data"].decode() for one in trace.of("task") if one.name == "gemm"]
    assert len(set(updates)) == len(updates)
    assert "A[2,0], A[1,0] -> A[2,1]" in updates


def test_a_task_ends_before_its_successors_start(run):
    """Where trsm(A[0,0] -> A[m,0]) wrote a tile, no gemm reads it before."""
    _, trace, _ = run
    written = {one.notes["data"].decode().split(" -> ")[1]: one.end for one in trace.of("task")
               if one.name == "trsm" and "A[0,0] ->" in one.notes["data"].decode()}
    readers = [one for one in trace.of("task") if one.name == "gemm" and one.notes["data"].decode().startswith("A[2,0], A[1,0] ")]
    assert readers and all(one.begin >= max(written["A[2,0]"], written["A[1,0]"]) for one in readers)


def test_workers_are_threads_of_one_process(run):
    _, trace, _ = run
    process = [uuid for uuid, track in trace.tracks.items() if track["process"]]
    threads = {track["name"] for track in trace.tracks.values() if track["thread"]}
    assert len(process) == 1 and threads == {"worker 0", "worker 1"}
    assert all(track["parent"] == process[0] for uuid, track in trace.tracks.items() if uuid != process[0])


def test_slices_of_one_track_do_not_overlap(run):
    _, trace, _ = run
    by_track = collections.defaultdict(list)
    for one in trace.slices:
        by_track[one.track].append((one.begin, one.end))
    for spans in by_track.values():
        spans.sort()
        assert all(before[1] <= after[0] for before, after in zip(spans, spans[1:]))


def test_copies_add_up_to_the_bytes_of_the_report(run):
    _, trace, report = run
    phase, = [one for one in trace.of("phase") if one.name == "factorization"]
    moved = collections.Counter()
    for one in trace.of("copy"):
        if phase.begin < one.end <= phase.end:
            moved[trace.tracks[one.track]["name"], one.notes["cause"].decode()] += one.notes["bytes"]
    disk, = [link for link in report["links"] if link["name"] == "disk"]
    for track, key in (("disk to RAM", "from_home"), ("RAM to disk", "to_home")):
        for cause, of in disk[key].items():
            assert moved[track, cause] == of["bytes"], (track, cause)
    assert moved["disk to RAM", "demand"] > 0 and moved["RAM to disk", "eviction"] > 0


def test_counters_have_bytes_as_unit_and_stay_below_the_capacity(run):
    _, trace, report = run
    units = {track["name"]: track["unit"] for track in trace.tracks.values() if track["unit"] is not None}
    assert units == {f"RAM: {use}": 3 for use in ("by tasks", "prefetched", "leaving", "cached")}
    capacity, = [node["capacity_bytes"] for node in report["nodes"] if node["name"] == "RAM"]
    total = collections.Counter()
    for name in units:
        for at, value in trace.counters[name]:
            total[at] += value
    # Several records of one moment add up to a multiple: the smallest count is that of one.
    one_each = [value for at, value in total.items() if sum(when == at for when, _ in trace.counters["RAM: cached"]) == 1]
    assert one_each and max(one_each) <= capacity


def test_waits_fill_gaps_of_their_worker(run):
    _, trace, _ = run
    names = {one.name for one in trace.of("wait")}
    assert names <= {"waiting for data", "waiting for tasks"} and names
    assert all(trace.tracks[one.track]["thread"] for one in trace.of("wait"))


def test_dropped_records_are_reported_in_the_trace_and_by_the_command(command, tmp_path):
    done, trace, _ = bench(command, tmp_path, "--n", 1536, "--tile", 64, "--trace-memory", "128KiB")
    said, = trace.instants
    assert re.match(r"The trace is not complete before [\d.]+ s: \d+ tasks", said)
    assert said in done.stdout
    assert 0 < len(trace.of("task")) < 2 * 128 * 1024 // 32  # of 32 bytes each


def test_a_complete_trace_reports_no_dropped_records(run):
    done, trace, _ = run
    assert trace.instants == [] and "not complete" not in done.stdout


def test_solve_writes_a_trace(fairlead):
    numpy = pytest.importorskip("numpy")
    a = numpy.eye(300) * 300 + numpy.ones((300, 300))
    numpy.save(fairlead.folder / "A.npy", a)
    numpy.save(fairlead.folder / "b.npy", a @ numpy.ones(300))
    done = fairlead("solve", "A.npy", "b.npy", "-o", "x.npy", "--tile", 64, "--trace", "run.pftrace", "--report", "run.html")
    assert done.returncode == 0, done.stderr
    trace = Trace((fairlead.folder / "run.pftrace").read_bytes())
    assert {"factorization", "solve", "error check", "writing"} <= {one.name for one in trace.of("phase")}
    assert {"potrf", "gemm", "trsm", "syrk"} <= {one.name for one in trace.of("task")}
    assert "Cholesky solve, n = 300" in (fairlead.folder / "run.html").read_text()


def test_a_failed_run_writes_no_trace(fairlead):
    done = fairlead("bench", "cholesky", "--n", 64, "--memory", "64KiB", "--tile", 64, "--trace", "run.pftrace")
    assert done.returncode != 0
    assert not (fairlead.folder / "run.pftrace").exists()
