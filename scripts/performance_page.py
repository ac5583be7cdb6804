"""Generates docs/performance.md from the measurements of scripts/bench-all. Sections without a new measurement stay."""

from measuring import median

GRAPHS = (("independent", "independent"), ("chain", "chain"), ("wavefront-1000", "wavefront 1000 x 1000"),
          ("cholesky-40", "Cholesky 40"), ("cholesky-80", "Cholesky 80"))
KERNELS = ("gemm", "syrk", "trsm", "potrf")
SYSTEMS = {"fairlead": "Fairlead, a flow", "fairlead-darts": "Fairlead, darts", "fairlead-recorded": "Fairlead, a Recording",
           "fairlead-ptg": "Fairlead, a parameterized graph", "gcc-openmp": "GCC OpenMP", "starpu-1.3": "StarPU 1.3", "onetbb-flow": "oneTBB"}


def page(sections: dict, before: str = "") -> str:
    """`sections`: by name, in bench-all's format; None: not measured. `before`: the current page."""
    old_head, *old = before.split("\n\n## ")
    kept = {text.partition("\n")[0]: f"## {text.strip()}" for text in old}
    parts = [head(sections, old_head.strip())]
    for name, title, write in (("overhead", "What does a task cost?", overhead),
                               ("in-core", "How fast is a factorization in memory?", in_core),
                               ("quarter", "What does it cost when only a quarter fits?", quarter),
                               ("memory", "How does performance depend on the memory limit?", memory),
                               ("capped", "What if the disk is slow?", capped),
                               ("simulated", "Simulated out-of-core runs", simulated),
                               ("emulated", "Accuracy of simulated accelerators", emulated),
                               ("mapped", "Comparison with a mapped file", mapped)):
        if sections.get(name):
            records = list(sections[name]["records"])
            if name == "simulated":
                records += [{**record, "real": True} for other in ("quarter", "capped") if sections.get(other)
                            for record in sections[other]["records"]]
            parts += [f"## {title}", write(records, sections[name]["parameters"]), stamp(sections[name])]
        elif title in kept:
            parts.append(kept[title])
        kept.pop(title, None)
    parts += kept.values()  # sections of other scripts
    return "\n\n".join(parts) + "\n"


def by_case(records: list[dict]) -> list[tuple[dict, list[dict]]]:
    """Each case with the reports of all its rounds, in the order of the first round."""
    cases = {}
    for record in records:
        if "case" in record:
            cases.setdefault(tuple(record["case"].items()), (record["case"], []))[1].append(record["report"])
    return list(cases.values())


def of(reports: list[dict], key: str) -> float:
    return median(report[key] for report in reports)


def spread(values: list[float], digits: int = 1) -> str:
    """Median, and in brackets the lowest and the highest."""
    values = list(values)
    if len(values) == 1:
        return f"{values[0]:.{digits}f}"
    return f"{median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def table(columns: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def reports_in(sections: dict) -> list[dict]:
    return [record["report"] for section in sections.values() if section for record in section["records"]
            if "machine" in record.get("report", {})]


def head(sections: dict, before: str = "") -> str:
    reports = reports_in(sections)
    if not reports and before:
        return before
    machine = ""
    if reports:
        machine = f"Machine: {reports[0]['machine']}; kernels: {reports[0]['kernels']}, one thread in each task."
    return f"""# Performance

This page compares Fairlead with other libraries or with a bound, measured in the same run. Compared programs alternate,
so that a slow minute affects all of them. Figures are medians over the rounds, with the lowest and highest in brackets.
This command measures most of them and writes their sections:

    scripts/bench-all

{machine}""".rstrip()


def stamp(section: dict) -> str:
    given = section["parameters"]
    command = f"scripts/bench-all {section['section']}" + (" --full" if given["full"] else "") + \
        (" --quick" if given["quick"] else "")
    return f"<sub>`{command}`, {section['began']} to {section['ended']}, commit {section['commit']}.</sub>"


# ---- sections

def overhead(records: list[dict], given: dict) -> str:
    rows = [record for record in records if "graph" in record]
    systems = list(dict.fromkeys(row["system"] for row in rows))

    def values(system: str, graph: str, threads: int, key: str) -> list[float]:
        return [row[key] for row in rows if (row["system"], row["graph"], row["threads"]) == (system, graph, threads)]

    def cell(system: str, graph: str, key: str, text) -> str:
        known = [values(system, graph, threads, key) for threads in (1, 2)]
        return " / ".join(text(median(some)) if some else "-" for some in known)

    lines = [[SYSTEMS.get(system, system),
              *(cell(system, graph, "ns_per_task", lambda ns: f"{ns:.0f}") for graph, _ in GRAPHS),
              cell(system, "independent-20us", "efficiency", lambda part: f"{100 * part:.1f}")] for system in systems]
    parts = ["Nanoseconds per empty task with 1 / 2 threads, including the application's thread: the graph is submitted and "
             "run, with dependencies inferred from the data; the registration of data is not timed. One default "
             "configuration for all columns, with counters and checks on. Cholesky 80 has 88,560 tasks. The last column: the "
             "share of processor time that tasks of 20 microseconds get, in per cent.",
             table(["system", *(title for _, title in GRAPHS), "20 µs tasks, %"], lines)]
    registration = [ns for threads in (1, 2) for ns in values("fairlead", "registration", threads, "ns_per_task")]
    waiting = next((record["waiting"] for record in records if "waiting" in record), None)
    if registration:
        parts.append(f"Registering a datum takes {median(registration):.0f} ns.")
    if waiting:
        parts.append(f"A waiting task with three accesses takes {waiting['heap_bytes_per_task']:.0f} bytes, all "
                     f"bookkeeping included: the growth of the heap per task, for {waiting['tasks']:,} tasks "
                     f"(`waiting_task_bytes`).")
    return "\n\n".join(parts)


def in_core(records: list[dict], given: dict) -> str:
    cases = by_case(records)
    lapack = next(reports for case, reports in cases if case["what"] == "lapack")
    peer = median(report["gflops"] for report in lapack)
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
    return "\n\n".join([
        f"Cholesky, n = {given['n']:,}, FP64, {given['workers']} workers, all data in memory. LAPACK's "
        f"`dpotrf` on the same matrix, from the same library with {given['workers']} threads, in the same rounds: "
        f"**{spread(report['gflops'] for report in lapack)} GFlop/s** (`lapack_potrf`). The ceiling is the rate of "
        "these kernels with a perfect schedule; they are timed after each run, on all cores at once.",
        table(["tile", "GFlop/s", "% of LAPACK", "ceiling, GFlop/s", "% of the ceiling", "% of GEMM peak"], lines),
        "The kernels on one tile per core, on all cores at once, GFlop/s per core:",
        table(["tile", *KERNELS], kernels)])


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
MOVED_TEXT = ("The best known schedules approach the floor: the leading term of the proved lower bound, plus the compulsory "
              "loads, plus one write per result. It is exact for large matrices in little memory; near the triangle's size "
              "less is possible. *Kernel's count*: the difference from /proc/self/io, in the worst round.")


def quarter(records: list[dict], given: dict) -> str:
    in_memory, lines = {}, []
    for case, reports in by_case(records):
        rate = of(reports, "gflops")
        if case["scheduler"] is None:
            in_memory[case["tile"]] = rate
            lines.append([str(case["tile"]), "in core", spread(report["gflops"] for report in reports), "100",
                          f"{of(reports, 'seconds'):.2f}", "-", "-", "-", "-"])
            continue
        lines.append([str(case["tile"]), case["scheduler"], spread(report["gflops"] for report in reports),
                      f"{100 * rate / in_memory[case['tile']]:.1f}", f"{of(reports, 'seconds'):.2f}", *moved(reports)])
    return "\n\n".join([
        "The same factorization with memory for a quarter of the triangle, from disk to disk, flushed, without a cap on "
        f"the disk. {MOVED_TEXT}",
        table(["tile", "policy", "GFlop/s", "% of in core", "seconds", *MOVED], lines)])


def memory(records: list[dict], given: dict) -> str:
    lines = [[str(case["tile"]), case["memory"], case["scheduler"], spread(report["gflops"] for report in reports),
              f"{of(reports, 'seconds'):.2f}", *moved(reports)] for case, reports in by_case(records)]
    rounds = len(by_case(records)[0][1])
    return "\n\n".join([
        f"Memory as a fraction of the triangle, which takes {triangle_gib(records):.2f} GiB; "
        f"{rounds} run{'s' if rounds > 1 else ''} each.",
        table(["tile", "memory", "policy", "GFlop/s", "seconds", *MOVED], lines)])


def triangle_gib(records: list[dict]) -> float:
    n = records[0]["report"]["n"]
    return n * (n + 1) / 2 * 8 / 2**30


def capped(records: list[dict], given: dict) -> str:
    lines = []
    for case, reports in by_case(records):
        ideal = [max(report["compute_bound_seconds"],
                     (report["bytes_read"] + report["bytes_written"]) / report["disk_cap_bytes_per_second"])
                 for report in reports]
        lines.append([str(case["tile"]), case["memory"], case["scheduler"],
                      spread(report["gflops"] for report in reports), f"{of(reports, 'seconds'):.2f}",
                      *moved(reports),
                      spread((report["seconds"] / least for report, least in zip(reports, ideal)), 3)])
    cap = records[0]["report"]["disk_cap_bytes_per_second"] / 1e6
    return "\n\n".join([
        f"The disk is capped at {cap:.0f} MB/s, both directions together. The last column is the ratio of the time to the "
        "larger of the computing time (at the tiled ceiling) and the transfer time at the cap: 1 is perfect overlap.",
        table(["tile", "memory", "policy", "GFlop/s", "seconds", *MOVED, "time / max(compute, bytes / cap)"], lines)])


def simulated(records: list[dict], given: dict) -> str:
    lines = []
    for case, reports in by_case([record for record in records if "real" not in record]):
        real = [record["report"] for record in records if "real" in record and record["case"] == case]
        total = [median(report["bytes_read"] + report["bytes_written"] for report in some) for some in (real, reports)]
        lines.append([str(case["tile"]), case["scheduler"], case["cap"] or "-", f"{total[0] / 1e9:.2f}",
                      f"{total[1] / 1e9:.2f}", f"{100 * (total[0] / total[1] - 1):+.1f}", f"{of(real, 'seconds'):.2f}",
                      f"{of(reports, 'seconds'):.2f}"])
    return "\n\n".join([
        "The same graph, capacity and workers on the simulated backend, driven by the same engine "
        "(`simulated_cholesky`; measured kernel speeds, 3 % noise, five seeds; without a cap the disk moves 3 GB/s).",
        table(["tile", "policy", "cap", "real, GB", "simulated, GB", "difference, %", "real, s", "simulated, s"],
              lines)])


def emulated(records: list[dict], given: dict) -> str:
    [report] = records
    ratios, lines = {"seconds": [], "bytes": []}, []
    for machine in dict.fromkeys(run["machine"] for run in report["runs"]):
        for workload in dict.fromkeys(run["workload"] for run in report["runs"]):
            runs = [run for run in report["runs"] if (run["machine"], run["workload"]) == (machine, workload)]
            cells = []
            for run in runs:
                for what, values in ratios.items():
                    values.append(median(run[f"emulated_{what}"]) / run[f"simulated_{what}"])
                cells.append(f"{ratios['seconds'][-1]:.2f} / {ratios['bytes'][-1]:.2f}")
            lines.append([machine, workload, f"{min(run['simulated_seconds'] for run in runs):.2f}", *cells])
    within = sum(abs(ratio - 1) <= 0.1 for ratio in ratios["seconds"])
    events = [rate / 1e6 for rate in report["events_per_second"]]
    return "\n\n".join([
        "The same program, description, policy and pipeline (four tasks) on emulated accelerators, where tasks sleep and "
        "copies take as long as in the description (`bench/simulator.cpp`; products of tiles take "
        f"{given['milliseconds']} ms, memory for a quarter of the data). Ratios real to simulated: time / bytes over the "
        "links, medians.",
        table(["machine", "program", "simulated, s (least)", *dict.fromkeys(run["policy"] for run in report["runs"])],
              lines),
        f"Median ratios: {median(ratios['seconds']):.2f} of the time and {median(ratios['bytes']):.2f} of the bytes; in time "
        f"{within} of {len(ratios['seconds'])} runs are within 10 %. Real runs are longer since sleeping threads wake up "
        "late (the timer slack alone is 0.05 ms), after each task and each copy on which a task waits. So programs with "
        "shorter tasks differ more.",
        f"Speed of the simulator on Table 1's largest run of `darts` (32,509 tasks): {median(events):.2f} million events "
        f"per second on one core ({min(events):.2f} to {max(events):.2f})."])


def mapped(records: list[dict], given: dict) -> str:
    lines = []
    for record in records:
        ours, theirs = record["fairlead"], record["mapped"]
        lines.append([f"{record['n']:,}", f"{record['n'] ** 2 * 8 / 2**30:.1f}", f"{record['memory_mib'] / 1024:g}",
                      f"{ours['seconds']:.1f}", f"{ours['gflops']:.1f}",
                      f"{theirs['seconds']:.0f}" if theirs else f"not finished after {record['limit_seconds']:.0f}",
                      f"{theirs['gflops']:.1f}" if theirs else "-",
                      f"{theirs['seconds'] / ours['seconds']:.0f}" if theirs
                      else f"more than {record['limit_seconds'] / ours['seconds']:.1f}"])
    return "\n\n".join([
        "The baseline without a runtime: LAPACK's `dpotrf` factors a matrix in a mapped file (`mmap`), and the operating "
        "system pages. Both run in a memory cgroup of the limit plus 150 MiB for the program; one run each.",
        table(["n", "matrix, GiB", "limit, GiB", "Fairlead, s", "GFlop/s", "mapped LAPACK, s", "GFlop/s",
               "speedup"], lines)])
