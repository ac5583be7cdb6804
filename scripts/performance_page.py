"""Writes docs/performance.md from docs/data/performance.json and python.json, which scripts/bench-all and bench-python keep. All figures, and all
statements that depend on them, are computed; other sentences explain what any run would show."""

import json
import pathlib
import textwrap

from measuring import ROOT, interval, median

DATA, PAGE = ROOT / "docs/data/performance.json", ROOT / "docs/performance.md"
PYTHON_DATA = ROOT / "docs/data/python.json"  # of scripts/bench-python, if it has run
WIDTH = 120
IN_CORE = "everything"
GRAPHS = (("independent", "independent"), ("chain", "chain"), ("wavefront-1000", "wavefront 1000 x 1000"),
          ("cholesky-40", "Cholesky 40"), ("cholesky-80", "Cholesky 80"))
KERNELS = ("gemm", "syrk", "trsm", "potrf")
SYSTEMS = {"fairlead": "Fairlead, a flow", "fairlead-darts": "Fairlead, a flow, `darts`",
           "fairlead-recorded": "Fairlead, a Recording", "fairlead-ptg": "Fairlead, a parameterized graph",
           "gcc-openmp": "GCC OpenMP", "onetbb-flow": "oneTBB"}


# ---- files

def serialized(data: dict) -> str:
    """JSON with six significant digits, a record a line."""
    def line(value) -> str:
        return json.dumps(rounded(value), separators=(",", ":"))

    head = [f"{json.dumps(key)}: {line(value)}" for key, value in data.items() if key != "sections"]
    sections = []
    for name, section in data["sections"].items():
        fields = [f"{json.dumps(key)}: {line(value)}" for key, value in section.items() if key != "records"]
        records = ",\n".join(map(line, section["records"]))
        sections.append(f"{json.dumps(name)}: {{{', '.join(fields)}, \"records\": [\n{records}]}}")
    return "{" + ",\n".join(head) + ',\n"sections": {\n' + ",\n".join(sections) + "}}\n"


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list | tuple) else value


def write(data: pathlib.Path, page_file: pathlib.Path):
    page_file.write_text(page(json.loads(data.read_text())))


def page(data: dict) -> str:
    sections = data["sections"]
    parts = [head(data)]
    for name, title, write_section in SECTIONS:
        if name not in sections:
            continue
        section = sections[name]
        parts.append(f"## {title}")
        if section["records"]:
            parts += write_section(section["records"], data)
        parts += section["notes"]
        parts.append(f"<sub>`scripts/bench-all {name}`, {section['began']} UTC, {section['minutes']:.1f} minutes.</sub>")
    if not data["parameters"]["quick"] and PYTHON_DATA.exists():
        parts += python(json.loads(PYTHON_DATA.read_text()))
    return "\n\n".join(wrapped(part) for part in parts) + "\n"


def wrapped(part: str) -> str:
    if part.startswith(("|", "#", "<", "    ")):
        return part
    return textwrap.fill(" ".join(part.split()), WIDTH, break_long_words=False, break_on_hyphens=False)


# ---- parts of sections

def by_case(records: list[dict]) -> list[tuple[dict, list[dict]]]:
    """Each case with the reports of all its rounds, in the order of the first round."""
    cases = {}
    for record in records:
        cases.setdefault(tuple(record["case"].items()), (record["case"], []))[1].append(record["report"])
    return list(cases.values())


def of(reports: list[dict], key: str) -> float:
    return median(report[key] for report in reports)


def spread(values, digits: int = 1) -> str:
    """Median, and in brackets the lowest and the highest."""
    values = list(values)
    if len(values) == 1:
        return f"{values[0]:.{digits}f}"
    return f"{median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def from_to(values, digits: int = 1, power: float = 1) -> str:
    """The lowest and the highest, or one number if they are shown alike."""
    low, high = (f"{value / power:.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def ratio(pairs) -> str:
    """The mean of the ratios of pairs, with its 95 % interval."""
    mean, low, high = interval([ours / theirs for ours, theirs in pairs])
    return f"{mean:.3f} ({low:.3f}-{high:.3f})"


def verdict(pairs, ours: str, theirs: str) -> str:
    """What the interval of the ratios of rates shows."""
    _, low, high = interval([mine / other for mine, other in pairs])
    if low > 1:
        return f"{ours} is faster than {theirs}: the whole interval is above 1."
    if high < 1:
        return f"{ours} is slower than {theirs}: the whole interval is below 1."
    return f"{ours} and {theirs} do not differ measurably: the interval contains 1."


def table(columns: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def rounds_of(records: list[dict]) -> str:
    number = len(by_case(records)[0][1])
    return f"{number} rounds" if number > 1 else "one round"


# ---- sections: each returns its paragraphs and tables

def head(data: dict) -> str:
    sections, given = data["sections"], data["parameters"]
    minutes = sum(section["minutes"] for section in sections.values())
    first = min((section["began"] for section in sections.values()), default="")
    machine = f"Machine: {data.get('machine', given['processor'])}. " + \
        (f"Kernels: {data['kernels']}, one thread in each task. " if "kernels" in data else "")
    peers = ", ".join(f"{name} {version}" for name, version in data["versions"].items())
    notes = [note for section in sections.values() for note in section["notes"]]
    command = "scripts/bench-all" + (" --quick" if given["quick"] else "")
    return "\n\n".join(wrapped(part) for part in [
        "# Performance",
        "Fairlead compared with other libraries or with a bound. One command measured everything, on one machine, and wrote this "
        "page from its [data](data/performance.json):",
        f"    {command}",
        "Compared programs alternate, so that a change of the machine's speed affects all of them. Figures are medians over the "
        "rounds, with the lowest and highest in brackets. Ratios of pairs are means with their 95 % intervals. Causes and "
        "experiments: [notes](notes/performance.md).",
        f"{machine}{'Installed: ' + peers + '. ' if peers else ''}Commit {data['commit']}, {first} UTC, {minutes:.0f} minutes.",
        *([" ".join(dict.fromkeys(notes))] if notes else [])])


def overhead(records: list[dict], data: dict) -> list[str]:
    rows = {(row["system"], row["graph"], row["threads"]): row for row in records if "graph" in row}
    systems = list(dict.fromkeys(system for system, _, _ in rows))

    def value(system: str, graph: str, threads: int, key: str) -> float | None:
        row = rows.get((system, graph, threads))
        return median(row[key]) if row else None

    def cell(system: str, graph: str, key: str, text) -> str:
        known = [value(system, graph, threads, key) for threads in (1, 2)]
        return " / ".join("-" if one is None else text(one) for one in known)

    def name(system: str) -> str:
        return SYSTEMS.get(system, system.replace("starpu-", "StarPU "))

    lines = [[name(system), *(cell(system, graph, "ns_per_task", lambda ns: f"{ns:.0f}") for graph, _ in GRAPHS),
              cell(system, "independent-20us", "efficiency", lambda part: f"{100 * part:.1f}")] for system in systems]
    parts = ["Nanoseconds per empty task with 1 / 2 threads, including the application's thread: the graph is submitted and "
             "run, with dependencies inferred from the data. The registration of data, the first run of a Recording and the "
             "construction of a parameterized graph are not timed. One default configuration for all columns, with counters "
             "and checks on. Cholesky 80 has 88,560 tasks. The last column: the share of processor time that tasks of 20 "
             "microseconds get, in per cent. StarPU's row uses the program's thread and one worker.",
             table(["system", *(title for _, title in GRAPHS), "20 µs tasks, %"], lines)]
    facts = []
    for threads in (1, 2):
        flow, graph = ([value(system, graph, threads, "ns_per_task") for graph, _ in GRAPHS] for system in ("fairlead", "fairlead-ptg"))
        ratios = [one / other for one, other in zip(graph, flow) if one and other]
        if ratios:
            facts.append(f"{from_to(ratios)} times as long as a flow with {'one thread' if threads == 1 else 'two'}")
    if facts:
        parts.append("A parameterized graph determines successors when a task completes, on the same thread; a flow determines them "
                     "at submission. A graph takes " + ", and ".join(facts) + ". [Where the time goes](notes/jdf.md#where-the-time-goes).")
    extra = []
    for graph, text in (("registration", "Registering a datum takes {} ns."),
                        ("making the graph", "Constructing a parameterized graph takes {} ns per datum, once.")):
        times = [time for row in rows.values() if row["graph"] == graph for time in row["ns_per_task"]]
        if times:
            extra.append(text.format(f"{median(times):.0f}"))
    waiting = next((record["waiting"] for record in records if "waiting" in record), None)
    if waiting:
        extra.append(f"A waiting task with three accesses takes {waiting['heap_bytes_per_task']:.0f} bytes, all bookkeeping "
                     f"included: the growth of the heap per task, for {waiting['tasks']:,} tasks (`bench/waiting_task_bytes`).")
    return [*parts, " ".join(extra)] if extra else parts


def many_tasks(records: list[dict], data: dict) -> list[str]:
    titles = {"independent": "independent", "released": "released by one task"}
    lines = [[titles.get(record["graph"], f"Cholesky, {record['size']} x {record['size']} tiles"), f"{record['tasks']:,}",
              spread(record["ns_per_task"], 0), f"{record['resident_mib']:.1f}", f"{record['growth_mib']:.1f}"] for record in records]
    return ["Parameterized graphs with empty bodies, one thread, a process for each graph: nanoseconds per task, peak resident "
            "memory in MiB, and its growth since all data were registered and the graph was built. A task that no input has "
            "reached takes no memory, so growth follows the number of tasks that wait with some of their inputs.",
            table(["graph", "tasks", "ns per task", "resident", "growth"], lines),
            "A completing task notifies up to 1,024 successors at once; those that do not fit into a worker's queue wait behind it, "
            "outside the engine. With several hundred tiles a side, the slots and records of waiting tasks are larger than the "
            "caches."]


def in_core(records: list[dict], data: dict) -> list[str]:
    given, cases = data["parameters"], by_case(records)
    lapack = next(reports for case, reports in cases if case["what"] == "lapack")
    peer = of(lapack, "gflops")
    lines, kernels = [], []
    for case, reports in cases:
        if case["what"] == "lapack":
            continue
        rate, ceiling = of(reports, "gflops"), of(reports, "ceiling_gflops")
        lines.append([str(case["tile"]), spread(report["gflops"] for report in reports), f"{100 * rate / peer:.1f}",
                      f"{ceiling:.1f}", spread(report["ceiling_percent"] for report in reports),
                      f"{of(reports, 'gemm_peak_percent'):.1f}"])
        kernels.append([str(case["tile"]),
                        *(f"{median(report['tile_gflops'][kernel] for report in reports):.1f}" for kernel in KERNELS)])
    return [
        f"Cholesky, n = {given['n']:,}, FP64, {given['workers']} workers, all data in memory, {rounds_of(records)}. LAPACK's "
        f"`dpotrf` on the same matrix, from the same library with {given['workers']} threads, in the same rounds: "
        f"**{spread(report['gflops'] for report in lapack)} GFlop/s**. The ceiling is the rate of these kernels with a perfect "
        "schedule. They are timed after each run, on all cores at once, so a run on a machine that is faster by then can "
        "exceed 100 %.",
        table(["tile", "GFlop/s", "% of LAPACK", "ceiling, GFlop/s", "% of the ceiling", "% of GEMM peak"], lines),
        "The kernels on one tile per core, on all cores at once, GFlop/s per core:",
        table(["tile", *KERNELS], kernels)]


def lapack(records: list[dict], data: dict) -> list[str]:
    [record] = records
    pairs = [(ours, theirs) for theirs, ours in record["pairs"]]
    return [
        f"Cholesky, n = {record['n']:,}, FP64, {record['workers']} workers, all settings at their defaults, against LAPACK's "
        f"`dpotrf` of the fastest library ({record['core_type']} kernels) with as many threads, in {len(pairs)} interleaved pairs. "
        "Backward errors are those of the solution of a system with either factor.",
        table(["program", "GFlop/s", "Fairlead / `dpotrf`", "backward error"], [
            [f"Fairlead, {record['kernels']}, tiles of {record['tile']}", spread(ours for ours, _ in pairs), ratio(pairs),
             f"{record['backward_error']:.1e}"],
            [f"`dpotrf`, {record['core_type']}", spread(theirs for _, theirs in pairs), "",
             f"{record['backward_error_of_dpotrf']:.1e}"]]),
        verdict(pairs, "Fairlead", "`dpotrf`") + " [blas.md](blas.md) describes how Fairlead chooses library, kernels and products."]


def moved(reports: list[dict]) -> list[str]:
    """GB read, GB written, multiple of the floor, difference from the kernel's count in per cent."""
    def total(report):
        return report["bytes_read"] + report["bytes_written"]

    def kernel_difference(report):
        kernel = report.get("kernel_bytes_read", 0) + report.get("kernel_bytes_written", 0)
        return 100 * (kernel - total(report)) / total(report) if total(report) else 0

    return [f"{of(reports, 'bytes_read') / 1e9:.2f}", f"{of(reports, 'bytes_written') / 1e9:.2f}",
            f"{median(total(report) / report['floor_bytes'] for report in reports):.2f}",
            f"{max(map(kernel_difference, reports), key=abs):+.2f}"]


MOVED = ["read, GB", "written, GB", "x floor", "kernel's count, %"]


def quarter(records: list[dict], data: dict) -> list[str]:
    in_memory, lines = {}, []
    for case, reports in by_case(records):
        rate = of(reports, "gflops")
        shown = [spread(report["gflops"] for report in reports)]
        if case["scheduler"] is None:
            in_memory[case["tile"]] = rate
            lines.append([str(case["tile"]), "in core", *shown, "100", f"{of(reports, 'seconds'):.2f}", "-", "-", "-", "-"])
            continue
        lines.append([str(case["tile"]), f"`{case['scheduler']}`", *shown, f"{100 * rate / in_memory[case['tile']]:.1f}",
                      f"{of(reports, 'seconds'):.2f}", *moved(reports)])
    return [
        f"Cholesky, n = {data['parameters']['n']:,}, with memory for a quarter of the triangle, from disk to disk, flushed, without "
        f"a cap on the disk, against the same factorization in core, {rounds_of(records)}.",
        table(["tile", "policy", "GFlop/s", "% of in core", "seconds", *MOVED], lines),
        "The floor is the leading term of the proved lower bound on bytes read, plus the compulsory loads, plus one write per "
        "result. It is exact for large matrices in little memory; near the triangle's size less is possible. *Kernel's count*: "
        "the difference from /proc/self/io, in the worst round."]


def memory(records: list[dict], data: dict) -> list[str]:
    lines = [[str(case["tile"]), case["memory"], spread(report["gflops"] for report in reports),
              f"{of(reports, 'seconds'):.2f}", *moved(reports)] for case, reports in by_case(records)]
    n = data["parameters"]["n"]
    return [f"The same factorization with the policy `darts`, {rounds_of(records)}. Memory is a fraction of the triangle, which takes "
            f"{n * (n + 1) / 2 * 8 / 2**30:.2f} GiB.",
            table(["tile", "memory", "GFlop/s", "seconds", *MOVED], lines)]


def capped(records: list[dict], data: dict) -> list[str]:
    lines = []
    for case, reports in by_case(records):
        ideal = [max(report["compute_bound_seconds"],
                     (report["bytes_read"] + report["bytes_written"]) / report["disk_cap_bytes_per_second"])
                 for report in reports]
        lines.append([str(case["tile"]), case["memory"], f"`{case['scheduler']}`",
                      spread(report["gflops"] for report in reports), f"{of(reports, 'seconds'):.2f}",
                      *moved(reports),
                      spread((report["seconds"] / least for report, least in zip(reports, ideal)), 3)])
    cap = records[0]["report"]["disk_cap_bytes_per_second"] / 1e6
    return [f"The disk is capped at {cap:.0f} MB/s, both directions together, {rounds_of(records)}. The last column is the ratio of "
            "the time to the larger of the computing time (at the tiled ceiling) and the transfer time at the cap: 1 is perfect "
            "overlap.",
            table(["tile", "memory", "policy", "GFlop/s", "seconds", *MOVED, "time / max(compute, bytes / cap)"], lines)]


def simulated(records: list[dict], data: dict) -> list[str]:
    real = [record for name in ("quarter", "capped") for record in data["sections"][name]["records"]]
    lines = []
    for case, reports in by_case(records):
        same = [record["report"] for record in real if record["case"] == case]
        total = [median(report["bytes_read"] + report["bytes_written"] for report in some) for some in (same, reports)]
        lines.append([str(case["tile"]), f"`{case['scheduler']}`", case["cap"] or "-", f"{total[0] / 1e9:.2f}",
                      f"{total[1] / 1e9:.2f}", f"{100 * (total[0] / total[1] - 1):+.1f}", f"{of(same, 'seconds'):.2f}",
                      f"{of(reports, 'seconds'):.2f}"])
    return ["The runs of the two out-of-core sections on the simulated backend: the same graph, capacity and workers, the same "
            "engine (`bench/simulated_cholesky`; measured kernel speeds, 3 % noise, five seeds; without a cap the disk moves 3 "
            "GB/s).",
            table(["tile", "policy", "cap", "real, GB", "simulated, GB", "difference, %", "real, s", "simulated, s"], lines)]


def emulated(records: list[dict], data: dict) -> list[str]:
    runs = [record for record in records if "machine" in record]
    events = next(record["events_per_second"] for record in records if "events_per_second" in record)
    ratios, lines = {"seconds": [], "bytes": []}, []
    for machine in dict.fromkeys(run["machine"] for run in runs):
        for workload in dict.fromkeys(run["workload"] for run in runs):
            same = [run for run in runs if (run["machine"], run["workload"]) == (machine, workload)]
            cells = []
            for run in same:
                for what, values in ratios.items():
                    values.append(median(run[f"emulated_{what}"]) / run[f"simulated_{what}"])
                cells.append(f"{ratios['seconds'][-1]:.2f} / {ratios['bytes'][-1]:.2f}")
            lines.append([machine, workload, f"{min(run['simulated_seconds'] for run in same):.2f}", *cells])
    within = sum(abs(ratio - 1) <= 0.1 for ratio in ratios["seconds"])
    return [
        "The same program, description, policy and pipeline (four tasks) on emulated accelerators, where tasks sleep and "
        "copies take as long as in the description (`bench/simulator`; products of tiles take "
        f"{data['parameters']['milliseconds']} ms, memory for a quarter of the data). Ratios real to simulated: time / bytes over "
        "the links, medians.",
        table(["machine", "program", "simulated, s (least)", *(f"`{name}`" for name in dict.fromkeys(run["policy"] for run in runs))],
              lines),
        f"Median ratios: {median(ratios['seconds']):.2f} of the time and {median(ratios['bytes']):.2f} of the bytes. In time, "
        f"{within} of {len(ratios['seconds'])} runs are within 10 %. Sleeping threads wake up late (the timer slack alone is 0.05 "
        "ms), after each task and each copy on which a task waits. The shorter the tasks, the larger this part.",
        f"The simulator processes {from_to(events, 2, 1e6)} million events per second on one core (`darts`, Cholesky of 32,509 "
        "tasks)."]


def mapped(records: list[dict], data: dict) -> list[str]:
    lines = []
    for record in records:
        ours, theirs = record["fairlead"], record["mapped"]
        lines.append([f"{record['n']:,}", f"{record['n'] ** 2 * 8 / 2**20:.0f}", str(record["memory_mib"]),
                      f"{ours['seconds']:.1f}", f"{ours['gflops']:.1f}",
                      f"{theirs['seconds']:.0f}" if theirs else f"not finished after {record['limit_seconds']:.0f}",
                      f"{theirs['gflops']:.1f}" if theirs else "-",
                      f"{theirs['seconds'] / ours['seconds']:.0f}" if theirs
                      else f"more than {record['limit_seconds'] / ours['seconds']:.0f}"])
    return ["The baseline without a runtime: LAPACK's `dpotrf` factors a matrix in a mapped file (`mmap`), and the operating "
            "system pages. Both run in a memory cgroup of the limit plus 150 MiB for the program; one run each. LAPACK's format "
            "stores the whole square, Fairlead the tiles of the triangle.",
            table(["n", "square, MiB", "limit, MiB", "Fairlead, s", "GFlop/s", "mapped LAPACK, s", "GFlop/s", "speedup"], lines)]


def patterns(records: list[dict], data: dict) -> list[str]:
    def cell(record: dict | None) -> str:
        if record is None:
            return "-"
        found = [one / 1000 for one in record["metg_ns"] if one is not None]
        if 2 * len(found) <= len(record["metg_ns"]):
            return "never"
        # A round that did not reach half counts as one that needed more than all others.
        middle = median(found + [max(found)] * (len(record["metg_ns"]) - len(found)))
        return ("< " if any(record["at_most"]) else "") + f"{middle:.2f}"

    def different(key: str) -> list:
        return list(dict.fromkeys(record[key] for record in records))

    cases = {(record["system"], record["pattern"], record["columns"], record["imbalance"]): record for record in records}
    first = records[0]
    parts = [f"Task patterns of Task Bench (Slaughter et al. 2020): {first['steps']:,} steps of "
             f"{' or '.join(map(str, different('columns')))} columns on {first['cores']} cores. Each task reads the outputs of some tasks "
             "of the previous step, 8 bytes each, computes, and writes a number. METG(50 %), the minimum effective task "
             "granularity, is the shortest mean time per task, with all core time counted, at which half of the time is computing. "
             "Microseconds, first with equal tasks, then with computing times drawn between 0 and twice the mean, the same draws "
             f"for all systems; medians of {len(first['metg_ns'])} alternating rounds. The outputs of all runs are compared with "
             "those of a sequential computation."]
    for columns in different("columns"):
        lines = [[system, *(" / ".join(cell(cases.get((system, pattern, columns, imbalance))) for imbalance in (False, True))
                            for pattern in different("pattern"))] for system in different("system")]
        parts.append(table([f"{columns} columns", *(pattern.replace("_", " ") for pattern in different("pattern"))], lines))
    parts.append("The times of flows and of OpenMP's tasks include submission; recordings and parameterized graphs are built once, in "
                 "advance. \"OpenMP for\" is a loop over the columns with a barrier after each step; \"MPI bulk-synchronous\" "
                 "computes, exchanges and waits for all. MPI has one rank per core. All systems keep two values per column, except "
                 "OpenMP's tasks, which keep one per step. In a graph, the thread that completes a task determines its successors "
                 "alone. In fft each edge evaluates expressions with powers of two, in random nearest conditions are functions. "
                 "Over MPI each step waits for a [value between "
                 "ranks](ranks.md#ranks-of-one-machine).")
    return parts


def scalapack(records: list[dict], data: dict) -> list[str]:
    first, lines, errors, verdicts = records[0], [], [], []
    for record in records:
        rates = record["rates"]
        lines.append([f"{record['n']:,}", str(record["tile"]), f"{record['grid'][0]} x {record['grid'][1]}, {record['block']}",
                      *(spread(rates[name]) for name in ("ranks", "scalapack", "one rank")),
                      *(ratio(zip(rates["ranks"], rates[name])) for name in ("scalapack", "one rank"))])
        errors.append(f"{record['backward_error']:.1e} and {record['error_of_scalapack']:.1e}")
        verdicts.append(f"n = {record['n']:,}: " + verdict(list(zip(rates["ranks"], rates["scalapack"])), "Fairlead", "ScaLAPACK"))
    return [
        f"Cholesky, FP64, {first['ranks']} ranks of one core each, compared with `pdpotrf` with the best grid and block size of those "
        f"tried and one thread per rank, and with one rank of Fairlead with {first['ranks']} workers. All three alternate, "
        f"{len(first['rates']['ranks'])} rounds. GFlop/s; ratios of pairs.",
        table(["n", "Fairlead's tile", "ScaLAPACK's grid, block", f"Fairlead, {first['ranks']} ranks", "ScaLAPACK", "Fairlead, one rank",
               "to ScaLAPACK", "to one rank"], lines),
        " ".join(verdicts) + f" Fairlead's backward error and the relative error of ScaLAPACK's factor: {'; '.join(errors)}. "
        "Each panel travels to the other rank, which is idle until then unless it has other ready tasks."]


def ranks_out_of_core(records: list[dict], data: dict) -> list[str]:
    rates = {case["memory"]: [report["gflops"] for report in reports] for case, reports in by_case(records)}
    lines = []
    for case, reports in by_case(records):
        inside = case["memory"] == IN_CORE
        lines.append(["in core" if inside else "a quarter", spread(report["gflops"] for report in reports),
                      "1" if inside else ratio(zip(rates[case["memory"]], rates[IN_CORE])),
                      *("-" if inside else from_to([report[key] for report in reports], 2, 1e9)
                        for key in ("bytes_read", "bytes_written"))])
    reports = next(reports for case, reports in by_case(records) if case["memory"] != IN_CORE)
    return [
        f"Cholesky, FP64, n = {reports[0]['n']:,}, {records[0]['case']['ranks']} ranks of one core each, with all tiles in memory and with "
        f"{reports[0]['memory_limit_bytes'] / 2**20:.1f} MiB each, a quarter of the tiles that a rank owns; {len(reports)} alternating "
        "pairs.",
        table(["memory", "GFlop/s", "of in core", "read, GB", "written, GB"], lines),
        "A rank also keeps data received from the other in its memory, and its policy is notified of a task when the inputs have "
        "arrived, so no policy can plan sets of tiles in advance."]


def python(data: dict) -> list[str]:
    """The section with the data of scripts/bench-python, with its title."""
    records = data["records"]

    def runs(what: str, case: str, system: str) -> list[dict]:
        return [record for record in records
                if (record["what"], record.get("case"), record["system"]) == (what, case, system)]

    def seconds(what: str, case: str, system: str) -> list[float]:
        return [run["seconds"] for run in runs(what, case, system)]

    def compared(ours: list[float], theirs: list[float]) -> str:
        return ratio(zip(ours, theirs)) if len(ours) > 1 else f"{ours[0] / theirs[0]:.2f}"

    systems = {record["system"]: record for record in records if record["what"] == "system"}
    rows = []
    for what, power in (("memory", 1), ("small", 1e-3)):
        for case, title in (("pos", "positive definite"), ("sym", "symmetric"), ("gen", "general"), ("lstsq", "least squares")):
            ours, scipy, dask = (seconds(what, case, system) for system in ("fairlead", "scipy", "dask"))
            n = runs(what, case, "fairlead")[0]["n"]
            shape = f"{n:,} x {n // 2 if case == 'lstsq' else n:,}"
            unit = " s" if power == 1 else " ms"
            rows.append([f"{title}, {shape}", *(spread((one / power for one in times), 2) + unit for times in (ours, scipy, dask)),
                         compared(ours, scipy), compared(ours, dask)])
    whole, quarter, dask = (runs("file", "pos", name) for name in ("fairlead", "fairlead, a quarter", "dask"))
    [limited] = [record for record in records if record["what"] == "limited"]

    def peak(of_runs: list[dict]) -> str:
        return f"{max(run['growth_bytes'] for run in of_runs) / 2**20:,.0f}"

    def row(title: str, of_runs: list[dict]) -> list[str]:
        return [title, spread((run["seconds"] for run in of_runs), 2), peak(of_runs)]

    return [
        "## Is it faster than SciPy in Python?",
        f"`fl.solve` and `fl.lstsq`, which check each solution, against `scipy.linalg` {systems['scipy']['scipy']} "
        f"({systems['scipy']['blas']}) and `dask.array.linalg` {systems['dask']['dask']}, as pip installs them, all with "
        f"their default threads; Fairlead with {systems['fairlead']['blas']}. Double precision; the first call of a small system is not "
        "counted. dask has no method for symmetric matrices that are not definite.",
        table(["matrix", "Fairlead", "SciPy", "dask", "Fairlead / SciPy", "Fairlead / dask"], rows),
        f"A positive definite matrix of {whole[0]['n']:,} x {whole[0]['n']:,} in a file. Memory is the growth of the process during the "
        "call, without mapped files. dask reads a memory map.",
        table(["program", "seconds", "MiB"], [
            row("Fairlead, in memory", whole),
            row(f"Fairlead, limit {limited['bytes'] / 2**20:,.0f} MiB, a quarter of the triangle", quarter),
            row("dask", dask),
            [f"SciPy, {limited['bytes'] / 2**20:,.0f} MiB of addresses", limited["error"].split(":")[0] or "solved", ""]]),
        f"In a quarter of the memory Fairlead takes {compared([run['seconds'] for run in quarter], [run['seconds'] for run in whole])} times as long.",
        f"<sub>`scripts/bench-python --page`, commit {data['commit']}, {data['began']} UTC, {data['minutes']:.1f} minutes, "
        f"{data['processor']}.</sub>"]


SECTIONS = (
    ("overhead", "What does a task cost?", overhead),
    ("many-tasks", "What do very many tasks cost?", many_tasks),
    ("in-core", "How fast is a factorization in memory?", in_core),
    ("lapack", "Is it faster than LAPACK in core?", lapack),
    ("quarter", "What does it cost when only a quarter fits?", quarter),
    ("memory", "How does performance depend on the memory limit?", memory),
    ("capped", "What if the disk is slow?", capped),
    ("simulated", "Simulated out-of-core runs", simulated),
    ("emulated", "Accuracy of simulated accelerators", emulated),
    ("mapped", "Comparison with a mapped file", mapped),
    ("patterns", "How small may tasks be?", patterns),
    ("scalapack", "Is it faster than ScaLAPACK over ranks?", scalapack),
    ("ranks-out-of-core", "Two ranks out of core", ranks_out_of_core))
