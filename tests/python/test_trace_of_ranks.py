"""--trace over ranks: one file with a process for each rank and one clock; and the waits between ranks in the report."""

import collections
import json

import pytest

from ranks import said, start
from test_trace import BEGIN, END, fields


class Traces:
    """What each process has, by its name: slices as (category, name, begin, end, notes, values), in the order of their begins."""

    def __init__(self, data):
        parents, names, self.slices, self.threads = {}, {}, collections.defaultdict(list), collections.defaultdict(set)
        begun = {}
        for packet in map(fields, fields(data)[1]):
            if 60 in packet:
                descriptor = fields(packet[60][0])
                uuid = descriptor[1][0]
                assert uuid not in parents, "a track is described twice"
                parents[uuid] = descriptor.get(5, [None])[0]
                if 3 in descriptor:
                    names[uuid] = fields(descriptor[3][0])[6][0].decode()
                elif 4 in descriptor:
                    thread = fields(descriptor[4][0])
                    self.threads[thread[1][0]].add(thread[5][0].decode())
                continue
            (at,), event = packet[8], fields(packet[11][0])
            (kind,), (track,) = event[9], event[11]
            if kind == BEGIN:
                notes = {fields(one)[10][0].decode(): (fields(one).get(6) or fields(one).get(3))[0] for one in event[4]}
                assert track not in begun
                begun[track] = (at, event[22][0].decode(), event[23][0].decode(), notes, event.get(47, []))
            elif kind == END:
                begin, category, name, notes, values = begun.pop(track)
                assert begin <= at
                self.slices[names[parents[track]]].append((category, name, begin, at, notes, values))
        assert not begun
        self.processes = sorted(names.values())


def traced(command, folder, launcher, ranks, *arguments):
    done = start(command, folder, launcher, ranks, ["bench", *arguments, "--trace", "t.pftrace", "--json", "r.json", "--workers", 1])
    assert (done.returncode, said(done)) == (0, []), done.stderr
    assert done.stdout.count("ui.perfetto.dev") == 1
    assert sorted(path.name for path in folder.iterdir()) == ["r.json", "t.pftrace"]
    return Traces((folder / "t.pftrace").read_bytes()), json.loads((folder / "r.json").read_text())


@pytest.mark.parametrize("front", ["ptg", "flow"])
@pytest.mark.parametrize("launcher, ranks", [("threads", 3), ("openmpi", 4), ("mpich", 2)])
def test_all_ranks_are_in_one_file(command, tmp_path, launcher, ranks, front):
    traces, report = traced(command, tmp_path, launcher, ranks, "cholesky", "--n", 480, "--tile", 40, "--memory", "64MiB", "--front",
                            front)
    assert [name.split(" on ")[0] for name in traces.processes] == [f"rank {r}" for r in range(ranks)]
    assert all(threads == {"worker 0"} for threads in traces.threads.values()) and len(traces.threads) == ranks
    by_rank = [traces.slices[name] for name in traces.processes]

    # Every task of every rank, once.
    count, updates, nt = collections.Counter(), [], 12
    for slices in by_rank:
        tasks = [one for one in slices if one[0] == "task"]
        count.update(one[1] for one in tasks)
        ends = 0
        for one in sorted(tasks, key=lambda one: one[2]):
            assert one[2] >= ends, "a worker runs one task after the other"
            ends = one[3]
    assert (count["potrf"], count["trsm"], count["syrk"]) == (nt, nt * (nt - 1) // 2, nt * (nt - 1) // 2)
    assert count["gemm"] == nt * (nt - 1) * (nt - 2) // 6

    # Each value that arrives was sent, and earlier by the common clock.
    sent, got = collections.defaultdict(list), collections.defaultdict(list)
    for rank, slices in enumerate(by_rank):
        for category, name, begin, end, notes, values in slices:
            if category != "value":
                continue
            (value,) = values
            if name == "to other ranks":
                sent[value].append((rank, begin, end))
            else:
                got[value].append((rank, int(name.split()[-1]), begin, end, notes["bytes"]))
    assert got and set(got) <= set(sent)
    for value, receivers in got.items():
        assert len({rank for rank, *_ in receivers}) == len(receivers), "a value comes to a rank once"
        for rank, giver, begin, end, size in receivers:
            (asked,) = [begun for sender, begun, _ in sent[value] if sender == giver]
            assert rank != giver and end >= asked, (end - asked, rank, giver)

    # The report counts the same, and who waited did so while something was on its way.
    cause = "graphs" if front == "ptg" else "flows"
    for to, rank in enumerate(report["ranks"]):
        assert len(rank["from"]) == ranks and rank["from"][to][f"{cause}_values"] == 0
        for giver, of in enumerate(rank["from"]):
            assert 0 <= of["waited_seconds"] <= of["in_flight_seconds"] + 1e-6
            in_trace = sum(1 for receivers in got.values() for r, g, *_ in receivers if (r, g) == (to, giver))
            assert of[f"{cause}_values"] <= in_trace
            assert (of[f"{cause}_bytes"] > 0) == (of[f"{cause}_values"] > 0)
        assert rank["waited_seconds"] <= rank["counted_seconds"] * rank["workers"] * 1.01
    assert sum(of[f"{cause}_bytes"] for rank in report["ranks"] for of in rank["from"]) == sum(
        rank["payload_bytes"] for rank in report["ranks"])


@pytest.mark.parametrize("launcher", ["threads", "mpich"])
def test_the_page_and_the_text_report_waits_between_ranks(command, tmp_path, launcher):
    done = start(command, tmp_path, launcher, 2, ["bench", "lu-nopivot", "--n", 400, "--tile", 40, "--memory", "64MiB", "--report", "r.html",
                                                  "--report-text", "full"])
    assert (done.returncode, said(done)) == (0, []), done.stderr
    assert "1 received" in done.stdout and "values from 0 (graphs), in flight for" in done.stdout
    assert "its workers had no task for" in done.stdout
    assert "of the workers' time was without a task while values were in flight" in done.stdout
    page = (tmp_path / "r.html").read_text()
    assert "Waits between ranks" in page and "<th>1 from 0</th>" in page and "<th>rank 1</th>" in page


def test_solve_traces_all_ranks(command, tmp_path):
    numpy = pytest.importorskip("numpy")
    random = numpy.random.default_rng(3)
    a = random.standard_normal((300, 300))
    numpy.save(tmp_path / "a.npy", a @ a.T + 300 * numpy.eye(300))
    numpy.save(tmp_path / "b.npy", random.standard_normal(300))
    done = start(command, tmp_path, "openmpi", 3, ["solve", "a.npy", "b.npy", "-o", "x.npy", "--tile", 32, "--memory", "64MiB", "--trace",
                                                   "t.pftrace"])
    assert (done.returncode, said(done)) == (0, []), done.stderr
    traces = Traces((tmp_path / "t.pftrace").read_bytes())
    assert len(traces.processes) == 3
    assert sum(one[1] == "potrf" for slices in traces.slices.values() for one in slices) == 10


def test_without_a_trace_no_waits_are_reported(command, tmp_path):
    done = start(command, tmp_path, "threads", 2, ["bench", "cholesky", "--n", 200, "--tile", 40, "--memory", "64MiB", "--json", "r.json"])
    assert done.returncode == 0, done.stderr
    ranks = json.loads((tmp_path / "r.json").read_text())["ranks"]
    assert all("waited_seconds" not in of for rank in ranks for of in [rank, *rank["from"]])
    assert sum(of["graphs_values"] for rank in ranks for of in rank["from"]) == sum(rank["payloads"] for rank in ranks) > 0
