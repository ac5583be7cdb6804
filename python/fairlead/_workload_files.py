"""From graphs, workflows of WfCommons and tasks of StarPU to tasks."""

from __future__ import annotations

import collections
import json
import re
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from ._arrays import is_mapping
from ._workload import Duration, SimTask

_Tasks = tuple[list[SimTask], dict[Hashable, int]]


def _in_order(names: list[Any], before: Mapping[Any, list[Any]], where: str) -> list[Any]:
    """Names after those before them, otherwise as they are. Raises ValueError for a cycle."""
    waits = {name: 0 for name in names}
    after: dict[Any, list[Any]] = collections.defaultdict(list)
    for name in names:
        for one in dict.fromkeys(before.get(name, ())):
            waits[name] += 1
            after[one].append(name)
    ready = collections.deque(name for name in names if waits[name] == 0)
    ordered: list[Any] = []
    while ready:
        name = ready.popleft()
        ordered.append(name)
        for one in after[name]:
            waits[one] -= 1
            if waits[one] == 0:
                ready.append(one)
    if len(ordered) < len(names):
        done = set(ordered)
        at = next(name for name in names if name not in done)
        cycle: list[Any] = []
        while at not in cycle:
            cycle.append(at)
            at = next(one for one in before[at] if one not in done)
        cycle = [*cycle[cycle.index(at) :], at]
        raise ValueError(f"{where}: tasks wait for each other: {' -> '.join(map(str, reversed(cycle)))}")
    return ordered


def _number(value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{what} is {value!r}, which is no number") from None
    if not 0 <= number < float("inf"):
        raise ValueError(f"{what} is {value!r}: it is a number from 0 on")
    return number


def graph_tasks(graph: Any, names: Mapping[str, str], default_duration: Duration) -> _Tasks:
    """The tasks of a graph with nodes(data=True) and edges(data=True)."""
    if not callable(getattr(graph, "nodes", None)) or not callable(getattr(graph, "edges", None)):
        raise TypeError(f"a {type(graph).__name__} is no graph as networkx has them: it has no nodes() and edges()")
    if hasattr(graph, "is_directed") and not graph.is_directed():
        raise ValueError("the graph is undirected: a task graph is a DiGraph")
    where = str(getattr(graph, "name", "") or "the graph")
    nodes = dict(graph.nodes(data=True))
    before: dict[Any, list[Any]] = collections.defaultdict(list)
    reads: dict[Any, list[Hashable]] = collections.defaultdict(list)
    writes: dict[Any, list[Hashable]] = collections.defaultdict(list)
    sizes: dict[Hashable, int] = {}
    for number, (tail, head, attributes) in enumerate(graph.edges(data=True)):
        before[head].append(tail)
        datum: Hashable = ("edge", number, tail, head)
        size = attributes.get(names["bytes"])
        if size is None:
            size, datum = nodes[tail].get(names["bytes"]), ("result", tail)
        if size is not None:
            sizes[datum] = int(_number(size, f"{where}: the size of the datum from {tail!r} to {head!r}"))
            reads[head].append(datum)
            if datum not in writes[tail]:
                writes[tail].append(datum)
    tasks: dict[Any, SimTask] = {}
    for node in _in_order(list(nodes), before, where):
        given = nodes[node]
        duration = given.get(names["duration"], default_duration)
        if duration is not None and not is_mapping(duration):
            duration = _number(duration, f"{where}: the duration of node {node!r}")
        flops = given.get(names["flops"])
        if duration is None and flops is None:
            raise ValueError(
                f"{where}: node {node!r} has neither the attribute {names['duration']!r} nor {names['flops']!r}; "
                "default_duration applies to such nodes"
            )
        tasks[node] = SimTask(
            reads=reads[node],
            writes=writes[node],
            duration=duration,
            kind=str(given.get(names["kind"], "task")),
            flops=None if flops is None else _number(flops, f"{where}: the flops of node {node!r}"),
            priority=int(given.get(names["priority"], 0)),
            after=[tasks[one] for one in dict.fromkeys(before[node])],
            name=str(node),
        )
    return list(tasks.values()), sizes


class _Workflow:
    """The members of a JSON text. Errors name the line."""

    def __init__(self, text: str, where: str) -> None:
        self.where, self._text = where, text
        try:
            self.root = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"{where}, line {error.lineno}: {error.msg}") from None

    def fail(self, why: str, about: object = None) -> ValueError:
        at = self._text.find(json.dumps(about)) if about is not None else -1
        line = f", line {self._text.count(chr(10), 0, at) + 1}" if at >= 0 else ""
        return ValueError(f"{self.where}{line}: {why}")

    def member(self, of: Any, key: str, kind: type, what: str, about: object = None) -> Any:
        value = of.get(key) if is_mapping(of) else None
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.fail(f"{what} has no {key}" if value is None else f"the {key} of {what} is {value!r}", about)
        return value


def _workflow_tasks(json_text: _Workflow) -> tuple[list[dict[str, Any]], dict[Hashable, int], dict[str, float]]:
    """The tasks with inputFiles and outputFiles, sizes of files and runtimes, of WfFormat 1.5 and later, or before."""
    workflow = json_text.member(json_text.root, "workflow", dict, "the instance")
    runtimes: dict[str, float] = {}
    sizes: dict[Hashable, int] = {}
    number = (int, float)
    if "specification" in workflow:
        specified: list[dict[str, Any]] = json_text.member(workflow["specification"], "tasks", list, "the specification")
        for file in workflow["specification"].get("files", []):
            name = json_text.member(file, "id", str, "a file")
            sizes[name] = json_text.member(file, "sizeInBytes", int, f"the file {name}", name)
        for run in workflow.get("execution", {}).get("tasks", []):
            name = json_text.member(run, "id", str, "a task of the execution")
            runtimes[name] = json_text.member(run, "runtimeInSeconds", number, f"task {name}", name)  # type: ignore[arg-type]
        return specified, sizes, runtimes
    tasks: list[dict[str, Any]] = []
    for task in workflow.get("tasks", workflow.get("jobs", [])):
        name = json_text.member(task, "id" if "id" in task else "name", str, "a task")
        files: dict[str, list[str]] = {"input": [], "output": []}
        for file in task.get("files", []):
            path = json_text.member(file, "id" if "id" in file else "name", str, f"a file of task {name}", name)
            link = json_text.member(file, "link", str, f"the file {path}", path)
            if link not in files:
                raise json_text.fail(f"the link of the file {path} is {link!r}: it is input or output", path)
            files[link].append(path)
            sizes[path] = int(file.get("sizeInBytes", file.get("size", 0)))
        runtime = task.get("runtimeInSeconds", task.get("runtime"))
        if runtime is not None:
            runtimes[name] = runtime
        kind = task.get("category") or re.sub(r"_?(?:ID)?\d+$", "", task.get("name", name))
        tasks.append({**task, "id": name, "name": kind, "inputFiles": files["input"], "outputFiles": files["output"]})
        if task.get("name", name) != name:
            tasks[-1]["also"] = task["name"]
    return tasks, sizes, runtimes


def wfcommons_tasks(
    text: str, where: str, processor: str, default_duration: float | None
) -> tuple[str, list[SimTask], dict[Hashable, int]]:
    """The name of the workflow, its tasks, and the sizes of its files."""
    json_text = _Workflow(text, where)
    given, sizes, runtimes = _workflow_tasks(json_text)
    by_name: dict[str, dict[str, Any]] = {}
    also: dict[str, str] = {}
    for task in given:
        name = json_text.member(task, "id", str, "a task")
        if name in by_name:
            raise json_text.fail(f"two tasks have the id {name}", name)
        by_name[name] = task
        also.setdefault(task.get("also", name), name)
    before: dict[str, list[str]] = collections.defaultdict(list)
    for name, task in by_name.items():
        for key in ("parents", "children"):
            for other in task.get(key, []):
                found = other if other in by_name else also.get(other)
                if found is None:
                    raise json_text.fail(f"{key} of task {name} has {other!r}, which is no task", name)
                before[name if key == "parents" else found].append(found if key == "parents" else name)
    tasks: dict[str, SimTask] = {}
    for name in _in_order(list(by_name), before, where):
        task = by_name[name]
        for file in [*task.get("inputFiles", []), *task.get("outputFiles", [])]:
            if file not in sizes:
                raise json_text.fail(f"task {name} uses the file {file!r}, which has no size", name)
        seconds = runtimes.get(name, default_duration)
        if seconds is None:
            raise json_text.fail(f"task {name} has no runtime; default_duration applies to such tasks", name)
        tasks[name] = SimTask(
            reads=task.get("inputFiles", []),
            writes=task.get("outputFiles", []),
            duration={processor: _number(seconds, f"{where}: the runtime of task {name}")},
            kind=str(task.get("name", "task")),
            after=[tasks[one] for one in dict.fromkeys(before[name])],
            name=name,
        )
    if not tasks:
        raise json_text.fail("the workflow has no tasks")
    return str(json_text.root.get("name") or "workflow"), list(tasks.values()), sizes


class _Record(dict[str, str]):
    """The fields of a task of StarPU, with the line of each."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where
        self.lines: dict[str, int] = {}

    def fail(self, why: str, field: str = "JobId") -> ValueError:
        return ValueError(f"{self.where}, line {self.lines.get(field, min(self.lines.values(), default=1))}: {why}")

    def number(self, field: str, kind: Any = int, base: int = 10) -> Any:
        try:
            return kind(self[field], base) if kind is int else kind(self[field])
        except ValueError:
            raise self.fail(f"{field} is {self[field]!r}, which is no number", field) from None

    def list_of(self, field: str) -> list[str]:
        return self.get(field, "").split()


def _records(text: str, where: str) -> Iterator[_Record]:
    record = _Record(where)
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if line.strip():
            field, colon, value = line.partition(":")
            if not colon or not field.strip():
                raise ValueError(f"{where}, line {number}: there is no \"Field: value\", but {line.strip()!r}")
            record[field.strip()], record.lines[field.strip()] = value.strip(), number
        elif record:
            yield record
            record = _Record(where)


def _accesses_of_record(record: _Record, sizes: dict[Hashable, int]) -> dict[str, list[Hashable]]:
    handles, modes, bytes_of = record.list_of("Handles"), record.list_of("Modes"), record.list_of("Sizes")
    if not len(handles) == len(modes) == len(bytes_of):
        counts = f"{len(handles)} handles, {len(modes)} modes and {len(bytes_of)} sizes"
        raise record.fail(f"the task has {counts}", "Handles")
    found: dict[str, list[Hashable]] = {"reads": [], "writes": [], "updates": [], "commutes": []}
    for handle, mode, size in zip(handles, modes, bytes_of):
        access, _, flags = mode.partition("-")
        letters = set(access.replace("REDUX", "X").replace("SCRATCH", "S"))
        if not letters or letters - set("RWXS") or not size.isdigit():
            raise record.fail(f"the access {mode!r} to {size!r} bytes is not understood", "Modes")
        if letters == {"S"}:
            continue  # memory of the task alone
        sizes.setdefault(handle, int(size))
        if "X" in letters or ("C" in flags and "W" in letters):
            found["commutes"].append(handle)
        else:
            found["updates" if {"R", "W"} <= letters else "writes" if "W" in letters else "reads"].append(handle)
    return found


def starpu_tasks(text: str, where: str, processors: Mapping[int, str] | None, time_unit: float) -> _Tasks:
    """The tasks of a file tasks.rec, by SubmitOrder, with the dependencies that it states and those of the data."""
    records: dict[int, _Record] = {}
    for record in _records(text, where):
        if record.get("Control", "").startswith("WontUse"):
            continue
        if "JobId" not in record:
            raise record.fail("the task has no JobId")
        if records.setdefault(record.number("JobId"), record) is not record:
            raise record.fail(f"two tasks have the JobId {record['JobId']}")
    if not records:
        raise ValueError(f"{where}: the file has no tasks")
    order = {
        job: (record.number("SubmitOrder") if "SubmitOrder" in record else -1, number)
        for number, (job, record) in enumerate(records.items())
    }
    jobs = sorted(records, key=order.__getitem__)
    before: dict[int, list[int]] = {}
    for job, record in records.items():
        try:
            named = [int(one) for one in record.list_of("DependsOn")]
        except ValueError:
            raise record.fail(f"DependsOn is {record['DependsOn']!r}: it has numbers of jobs", "DependsOn") from None
        before[job] = [one for one in named if one in records]  # StarPU omits its internal jobs
    measured: dict[tuple[str, str], dict[str, list[float]]] = collections.defaultdict(dict)
    seconds: dict[int, float] = {}
    kinds: dict[int, tuple[str, str]] = {}
    for job, record in records.items():
        kinds[job] = (record.get("Model") or record.get("Name", "task"), record.get("Footprint", ""))
        if "StartTime" not in record or "EndTime" not in record:
            seconds[job] = 0.0  # no codelet: it only orders other tasks
            continue
        seconds[job] = (record.number("EndTime", float) - record.number("StartTime", float)) * time_unit
        if not seconds[job] >= 0:
            raise record.fail("EndTime is before StartTime", "EndTime")
        if processors is not None:
            worker = record.number("WorkerId") if "WorkerId" in record else -1
            if worker not in processors:
                raise record.fail(f"`processors` does not have the worker {worker}", "WorkerId")
            measured[kinds[job]].setdefault(processors[worker], []).append(seconds[job])
    sizes: dict[Hashable, int] = {}
    tasks: dict[int, SimTask] = {}
    for job in _in_order(jobs, before, where):
        record = records[job]
        means = {processor: sum(all_) / len(all_) for processor, all_ in measured.get(kinds[job], {}).items()}
        tasks[job] = SimTask(
            duration=means if means and "StartTime" in record else seconds[job],
            kind=record.get("Name") or kinds[job][0],
            flops=record.number("GFlop", float) * 1e9 if "GFlop" in record else None,
            priority=record.number("Priority") if "Priority" in record else 0,
            after=[tasks[one] for one in dict.fromkeys(before[job])],
            name=f"job {job}",
            **_accesses_of_record(record, sizes),
        )
    return list(tasks.values()), sizes
