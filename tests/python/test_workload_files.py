"""Workloads from graphs of networkx, DOT, WfCommons and StarPU: makespans computed by hand, and mistakes with their lines.

The files are small ones, written from the definitions of the formats: https://graphviz.org/doc/info/lang.html, WfFormat 1.4
and 1.6 (https://github.com/wfcommons/WfFormat), and the reader of tasks.rec in StarPU (tools/starpu_replay.c)."""

import json
import re

import pytest

pytest.importorskip("numpy")

# Two cores and a card; copies take a second for each gigabyte.
DESK = {
    "name": "desk",
    "processor": {"core": {"kind": "cpu", "rate": [{"kernel": "*", "gflops": 1}]},
                  "card": {"kind": "cuda", "rate": [{"kernel": "*", "gflops": 1}]}},
    "host": {"cores": 2, "core": "core", "memory": "16GB"},
    "device": [{"processor": "card", "memory": "4GB", "bandwidth": "1GB/s", "latency_microseconds": 0}],
}


def run(fl, workload, **settings):
    settings.setdefault("scheduler", "eager")
    return fl.simulate(workload, machine=DESK, **settings)[0]


class Graph:
    """As networkx.DiGraph, as far as it is used."""

    name = ""

    def __init__(self, nodes, edges, directed=True):
        self._nodes, self._edges, self._directed = nodes, edges, directed

    def is_directed(self):
        return self._directed

    def nodes(self, data=False):
        return list(self._nodes.items()) if data else list(self._nodes)

    def edges(self, data=False):
        return list(self._edges) if data else [edge[:2] for edge in self._edges]


def diamond(**edge):
    return Graph({"d": {"duration": 1}, "b": {"duration": 2}, "a": {"duration": 1}, "c": {"duration": 3}},
                 [("a", "b", edge), ("a", "c", edge), ("b", "d", edge), ("c", "d", edge)])


def test_a_graph_of_networkx(fl):
    assert run(fl, diamond(), gpus=0)["seconds"] == 5
    assert run(fl, diamond(), gpus=0, cores=1)["seconds"] == 7
    row = run(fl, diamond(bytes=10**9))  # on the card, where all data are made
    assert row["seconds"] == pytest.approx(7) and row["bytes_to_devices"] == 0 and row["tasks"] == 4


def test_networkx_itself(fl):
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph(name="chain")
    graph.add_edge(0, 1)
    graph.add_edge(1, 2)
    row = run(fl, fl.Workload.from_graph(graph, default_duration=2.0), gpus=0)
    assert (row["seconds"], row["workload"]) == (6, "chain")


def test_attributes_of_a_graph_have_any_names(fl):
    graph = Graph({1: {"t": {"cpu": 2, "cuda": 1}, "out": 10**9, "op": "gemm"}, 2: {"t": {"cpu": 1}}}, [(1, 2, {})])
    workload = fl.Workload.from_graph(graph, duration="t", bytes="out", kind="op")
    # The first task on the card in 1 s, a second for its result, and one for the second task.
    assert run(fl, workload, cores=1, scheduler="heft-tm")["seconds"] == pytest.approx(3)
    assert run(fl, workload, gpus=0)["seconds"] == 3


@pytest.mark.parametrize("graph, kind, text", [
    (Graph({}, [], directed=False), ValueError, "undirected"),
    (Graph({}, []), ValueError, "no tasks"),
    (Graph({"a": {}}, []), ValueError, "node 'a' has neither the attribute 'duration' nor 'flops'"),
    (Graph({"a": {"duration": "long"}}, []), ValueError, "the duration of node 'a' is 'long', which is no number"),
    (Graph({1: {"duration": 1}, 2: {"duration": 1}}, [(1, 2, {"bytes": -3})]), ValueError, "from 1 to 2 is -3"),
    (Graph({x: {"duration": 1} for x in "abc"}, [("a", "b", {}), ("b", "c", {}), ("c", "b", {})]), ValueError,
     "tasks wait for each other: b -> c -> b"),
])
def test_mistakes_in_graphs(fl, graph, kind, text):
    with pytest.raises(kind, match=re.escape(text)):
        fl.simulate(graph)


DOT = r'''
// A diamond with a tail
strict digraph "di\"amond" {
  rankdir = LR; graph [label="not a task"]
# a line of the preprocessor
  node [duration=1, kind=small]
  a -> { b; c } -> d [bytes=8, color="#ff0000"];
  b [duration="2"] ; c [duration=3.0, kind="lar" + "ge"]
  subgraph cluster_tail { node [duration=.5]; d:e:s -> e; }
  /* several
     lines */
  e [label=<an <b>HTML</b> label>]
}
'''


def test_dot(fl):
    workload = fl.Workload.from_dot(DOT)
    assert workload.name == 'di"amond'
    row = run(fl, workload, gpus=0, order=True)
    assert row["seconds"] == 5.5 and row["tasks"] == 5
    assert run(fl, workload, gpus=0, cores=1)["seconds"] == pytest.approx(7.5)


def test_dot_with_operations(fl):
    # As SimGrid's examples: the size of a task is in operations.
    text = 'digraph G { root [size="1e9"]; end [size="2e9"]; root -> end [size="1e6"]; }'
    assert run(fl, fl.Workload.from_dot(text, flops="size", bytes="size"), gpus=0)["seconds"] == 3


@pytest.mark.parametrize("text, error", [
    ("graph { a -- b }", "line 1: the graph is undirected"),
    ("digraph {\n a -- b }", "line 2: an undirected edge"),
    ("digraph {\n\n a -> }", "line 3: there is '}' instead of a name"),
    ("digraph { a\n", "line 2: the graph has no closing }"),
    ('digraph { a [label="x] }', "line 1: the text has no end"),
    ("digraph { a } b", "line 1: there is 'b' after the graph"),
    ("digraph { a [x y] }", "line 1: there is 'y' instead of '='"),
    ("digraph { a [l=<b] }", "line 1: the HTML text has no end"),
    ("digraph {\n\n ? }", "line 3: unexpected character '?'"),
    ("tree { }", "line 1: there is 'tree' instead of digraph"),
    ("digraph { a [duration=fast] }", "the duration of node 'a' is 'fast'"),
])
def test_mistakes_in_dot(fl, text, error):
    with pytest.raises(ValueError, match=re.escape(error)):
        fl.Workload.from_dot(text)


def workflow(version="1.6"):
    """Split one file into two, process each, merge the results."""
    names = {"split": ([], ["left", "right"]), "left": (["split"], ["merge"]), "right": (["split"], ["merge"]),
             "merge": (["left", "right"], [])}
    files = {"split": (["in.txt"], ["a.txt", "b.txt"]), "left": (["a.txt"], ["c.txt"]), "right": (["b.txt"], ["d.txt"]),
             "merge": (["c.txt", "d.txt"], ["out.txt"])}
    runtimes = {"split": 1.5, "left": 3, "right": 2, "merge": 0.5}
    sizes = {path: 1024 * (i + 1) for i, path in enumerate(sorted({path for one in files.values() for side in one for path in side}))}
    if version == "1.4":
        tasks = [{"name": f"{name}_ID{i:06}", "id": f"ID{i:06}", "category": name, "type": "compute",
                  "runtimeInSeconds": runtimes[name],
                  "parents": [f"{one}_ID{list(names).index(one):06}" for one in names[name][0]],
                  "children": [f"{one}_ID{list(names).index(one):06}" for one in names[name][1]],
                  "files": [{"link": link, "name": path, "sizeInBytes": sizes[path]}
                            for link, side in zip(("input", "output"), files[name]) for path in side]}
                 for i, name in enumerate(names)]
        return {"name": "four", "schemaVersion": "1.4", "workflow": {"makespanInSeconds": 5, "tasks": tasks}}
    tasks = [{"name": "process" if name in ("left", "right") else name, "id": name, "parents": parents, "children": children,
              "inputFiles": files[name][0], "outputFiles": files[name][1]} for name, (parents, children) in names.items()]
    runs = [{"id": name, "runtimeInSeconds": seconds, "coreCount": 1, "machines": ["node1"]} for name, seconds in runtimes.items()]
    return {"name": "four", "schemaVersion": version, "createdAt": "2026-08-04T15:19:28-08:00", "workflow": {
        "specification": {"tasks": tasks[::-1], "files": [{"id": path, "sizeInBytes": size} for path, size in sizes.items()]},
        "execution": {"makespanInSeconds": 5, "executedAt": "2026-08-04T15:20:00-08:00", "tasks": runs,
                      "machines": [{"nodeName": "node1", "cpu": {"coreCount": 2}}]}}}


@pytest.mark.parametrize("version", ["1.4", "1.6"])
def test_wfcommons(fl, version):
    workload = fl.Workload.from_wfcommons(json.dumps(workflow(version)))
    row = run(fl, workload, gpus=0)
    assert (workload.name, row["tasks"], row["seconds"]) == ("four", 4, 5)
    assert run(fl, workload, gpus=0, cores=1)["seconds"] == 7
    on_disk = run(fl, workload, gpus=0, cores=1, seeds=[2])
    assert on_disk["seconds"] == 7


def test_wfcommons_without_an_execution(fl):
    given = workflow()
    del given["workflow"]["execution"]
    with pytest.raises(ValueError, match="task split has no runtime; default_duration applies"):
        fl.Workload.from_wfcommons(json.dumps(given))
    workload = fl.Workload.from_wfcommons(json.dumps(given), processor="cuda", default_duration=1)
    assert run(fl, workload)["seconds"] == pytest.approx(4, abs=1e-4)


def changed(change, indent=1):
    given = workflow()
    change(given["workflow"]["specification"], given["workflow"]["execution"])
    return json.dumps(given, indent=indent)


@pytest.mark.parametrize("text, error", [
    ('{"name": "x",\n "workflow": }', "line 2: Expecting value"),
    ("[]", "the instance has no workflow"),
    (changed(lambda spec, _: spec["tasks"].clear()), "no tasks"),
    (changed(lambda spec, _: spec["tasks"][0]["parents"].append("lost")), "parents of task merge has 'lost', which is no task"),
    (changed(lambda spec, _: spec["tasks"][3]["inputFiles"].append("lost")), "uses the file 'lost', which has no size"),
    (changed(lambda spec, _: spec["tasks"][3]["parents"].append("merge")), "tasks wait for each other"),
    (changed(lambda spec, _: spec["tasks"].append(spec["tasks"][0])), "two tasks have the id merge"),
    (changed(lambda spec, _: spec["files"][0].pop("sizeInBytes")), "the file a.txt has no sizeInBytes"),
    (changed(lambda _, run: run["tasks"][0].update(runtimeInSeconds="long")), "the runtimeInSeconds of task split is 'long'"),
    (changed(lambda _, run: run["tasks"][0].update(runtimeInSeconds=-1)), "the runtime of task split is -1"),
])
def test_mistakes_in_wfcommons(fl, text, error):
    with pytest.raises(ValueError, match=re.escape(error)):
        fl.Workload.from_wfcommons(text)


def test_mistakes_in_wfcommons_name_the_line(fl):
    text = changed(lambda spec, _: spec["tasks"][0]["parents"].append("lost"))
    line = text[: text.index('"merge"')].count("\n") + 1
    with pytest.raises(ValueError, match=f"line {line}: parents of task merge"):
        fl.Workload.from_wfcommons(text)


# Two tiles: potrf and trsm read and write them, and a task without a codelet waits for both.
REC = """\
Name: potrf
Model: chol_potrf
JobId: 3
SubmitOrder: 1
Priority: 2
WorkerId: 4
MemoryNode: 1
SubmitTime: 0.010000
StartTime: 1.000000
EndTime: 1001.000000
GFlop: 0.333333
Footprint: a5c3f3d0
Parameters: tile
Handles: 0x7f01
Modes: RW
Sizes: 1000000000

Name: trsm
Model: chol_trsm
JobId: 4
SubmitOrder: 2
DependsOn: 3 77
WorkerId: 1
StartTime: 1001.000000
EndTime: 4001.000000
Footprint: 11
Parameters: tile tile scratch
Handles: 0x7f01 0x7f02 0x7f03
Modes: R RW S
Sizes: 1000000000 500000000 64

Control: WontUse
JobId: 5
SubmitOrder: 3
Parameters: tile
Handles: 0x7f02

JobId: 6
SubmitOrder: 5
DependsOn: 4 8
Tag: 1f

Name: trsm
Model: chol_trsm
JobId: 8
SubmitOrder: 4
DependsOn: 3
WorkerId: 4
StartTime: 4001.000000
EndTime: 5001.000000
Footprint: 11
Parameters: tile tile
Handles: 0x7f01 0x7f05
Modes: R RW-C
Sizes: 1000000000 500000000
"""


def test_starpu(fl):
    workload = fl.Workload.from_starpu(REC)
    assert run(fl, workload, gpus=0)["seconds"] == 4  # 1 s, then 3 s and 1 s at once
    assert run(fl, workload, gpus=0, cores=1)["seconds"] == 5
    assert run(fl, fl.Workload.from_starpu(REC, time_unit=1e-6), gpus=0, cores=1)["seconds"] == 0.005


def test_starpu_with_processors(fl):
    workload = fl.Workload.from_starpu(REC, processors={4: "cuda", 1: "cpu"})
    # potrf ran on the card alone; both trsm take 1 s there. The first tile is copied in a second, and so are all results of
    # 2 GB; some of them while tasks run.
    row = run(fl, workload)
    assert 1 + 3 + 0.5 <= row["seconds"] <= 1 + 3 + 2
    assert row["bytes_to_devices"] == 2_000_000_000
    with pytest.raises(ValueError, match="can run potrf"):
        run(fl, workload, gpus=0)


@pytest.mark.parametrize("change, error", [
    (("SubmitOrder: 2", "SubmitOrder: two"), "line 21: SubmitOrder is 'two', which is no number"),
    (("DependsOn: 3 77", "DependsOn: 3 x"), "line 22: DependsOn is '3 x'"),
    (("Modes: R RW S", "Modes: R RW"), "line 28: the task has 3 handles, 2 modes and 3 sizes"),
    (("Modes: R RW S", "Modes: R RW Q"), "line 29: the access 'Q' to '64' bytes is not understood"),
    (("JobId: 8", "JobId: 4"), "two tasks have the JobId 4"),
    (("JobId: 3\n", ""), "line 1: the task has no JobId"),
    (("EndTime: 1001.000000\nGFlop", "EndTime: 0\nGFlop"), "line 10: EndTime is before StartTime"),
    (("DependsOn: 3 77", "DependsOn: 3 6"), "tasks wait for each other: 4 -> 6 -> 4"),
    (("Name: trsm", "Name trsm"), "line 18: there is no \"Field: value\", but 'Name trsm'"),
])
def test_mistakes_in_starpu(fl, change, error):
    with pytest.raises(ValueError, match=re.escape(error)):
        fl.Workload.from_starpu(REC.replace(*change, 1))


def test_files_are_read_by_their_ending(fl, tmp_path):
    for name, text, seconds in [("g.dot", DOT, 5.5), ("w.json", json.dumps(workflow()), 5), ("tasks.rec", REC, 4)]:
        (tmp_path / name).write_text(text)
        assert run(fl, tmp_path / name, gpus=0)["seconds"] == seconds
    with pytest.raises(FileNotFoundError, match="none.dot"):
        fl.simulate(tmp_path / "none.dot")
    with pytest.raises(ValueError, match="g.flow:1"):
        (tmp_path / "g.flow").write_text("no flow")
        fl.simulate(tmp_path / "g.flow")
    with pytest.raises(TypeError, match="takes no options"):
        fl.Workload.open(tmp_path / "g.flow", name="x")
    (tmp_path / "b.dot").write_bytes(b"digraph { \xff }")
    with pytest.raises(ValueError, match="not text in UTF-8: invalid start byte at byte 10"):
        fl.Workload.open(tmp_path / "b.dot")
