"""Writes the measurements of scripts/gpu-check, from docs/data/gpu-*.json, between two marks of docs/notes/accelerators.md. Without a
file the page states that nothing was measured. Files from the fake driver are refused."""

import json
import pathlib
import statistics

BEGIN, END = "<!-- measured: by scripts/gpu-check page -->", "<!-- measured: end -->"
NOTHING = """**Nothing on this page was measured or run on a GPU.** `scripts/gpu-check` measures a machine with one; its figures appear here
once `docs/data/` has some."""


def files(root: pathlib.Path) -> list[pathlib.Path]:
    return sorted((root / "docs/data").glob("gpu-*.json"))


def measured(root: pathlib.Path) -> str:
    """The text between the marks."""
    parts = []
    for file in files(root):
        data = json.loads(file.read_text())
        if data["fake"]:
            raise ValueError(f"{file}: was written on the fake driver, whose speed is meaningless")
        parts.append(section(data, file.name))
    return "\n\n".join(parts) if parts else NOTHING


def with_measured(page: str, text: str) -> str:
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def write(root: pathlib.Path) -> None:
    page = root / "docs/notes/accelerators.md"
    page.write_text(with_measured(page.read_text(), measured(root)))


def table(columns: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def section(data: dict, name: str) -> str:
    steps = {(one["call"], one["step"]): one for one in data["steps"]}
    found = {key: one["result"] for key, one in steps.items() if "result" in one}
    start = next((result for (_, step), result in found.items() if step == "start"), {})
    calls = data.get("calls", {})
    days = sorted({call["date"] for call in calls.values()})
    parts = [f"### {', '.join([start.get('device', 'a device'), *days])}",
             "; ".join(f"`scripts/gpu-check {call['command']}`, {call['date']}, commit {(call['commit'] or 'unknown')[:8]}"
                       for call in calls.values()) + f" ([{name}](../data/{name}))."]
    for writes in (wires, between_devices, kernels, launch, right, cholesky, comparison):
        text = writes(found)
        if text:
            parts.append(text)
    problems = [f"- {call}, {step}: {one['problem']}" for (call, step), one in steps.items() if "problem" in one]
    if problems:
        parts.append("Failed steps:\n\n" + "\n".join(problems))
    return "\n\n".join(parts)


def gigabytes(rate: float) -> str:
    return f"{rate / 1e9:.2f}"


def wires(found: dict) -> str:
    result = found.get(("probe", "wires"))
    if not result:
        return ""
    keys = ("pinned_to_device", "pinned_from_device", "pinned_both", "plain_to_device", "plain_from_device")
    rows = [[f"{one['bytes']:,}", *(gigabytes(one[key]) for key in keys)] for one in result["wires"]]
    pinning = "; ".join(f"{one['bytes']:,} bytes in {one['seconds'] * 1e3:.2f} ms" for one in result["pinning"])
    return table(["bytes", "registered, to device, GB/s", "to host", "both", "not registered, to device", "to host"], rows) + \
        f"\n\nRegistering: {pinning}."


def between_devices(found: dict) -> str:
    result = found.get(("probe", "wires between devices"), {})
    rows = [[f"{result['from']} and {peer['device']}", f"{one['bytes']:,}", *(gigabytes(one[key]) for key in ("there", "back", "both"))]
            for peer in result.get("peers", []) for one in peer.get("wires", [])]
    text = table(["devices", "bytes", "first to second, GB/s", "second to first", "both"], rows) if rows else ""
    without = [str(peer["device"]) for peer in result.get("peers", []) if not peer["access"]]
    return text + (f"\n\nWithout access to {result['from']}: {', '.join(without)}." if without else "")


def kernels(found: dict) -> str:
    """GFlop/s by tile size."""
    rows = []
    for (call, step), result in found.items():
        if call != "probe" or not step.startswith("kernels"):
            continue
        ours = [one for one in result["kernels"] if one["processor"] != "core"]
        sides = sorted({one["tile"] for one in ours})
        for kernel, precision in dict.fromkeys((one["kernel"], one["precision"]) for one in ours):
            rate = {one["tile"]: one["gflops"] for one in ours if (one["kernel"], one["precision"]) == (kernel, precision)}
            rows.append([f"{kernel}, {precision}", str(result["streams"]), *(f"{rate[side]:,.0f}" if side in rate else "" for side in sides)])
    return table(["GFlop/s by tile", "streams", *(f"{side:,}" for side in sides)], rows) if rows else ""


def streams_of(tasks: dict) -> str:
    return "1 stream" if tasks["streams"] == 1 else f"{tasks['streams']} streams"


def launch(found: dict) -> str:
    result = found.get(("probe", "launch"))
    if not result:
        return ""
    bare, tasks, without = result["bare"], result["tasks"], result["tasks_without_launch"]
    graph, more = bare.get("graph"), []
    if graph:
        more = [["kernel of a relaunched CUDA graph, a chain", f"{graph['chain_us']:.2f}"],
                [f"{streams_of(tasks).replace('stream', 'chain')} in parallel", f"{graph['side_by_side_us']:.2f}"],
                ["building such a graph, per kernel", f"{graph['chain_made_us']:.2f}"],
                ["Fairlead tasks with one launch, of a recording, a chain", f"{tasks['recorded_chain_us']:.2f}"],
                [f"independent, {streams_of(tasks)}", f"{tasks['recorded_independent_us']:.2f}"]]
    return table(["microseconds", ""], [
        ["bare launches in a row", f"{bare['in_a_row_us']:.2f}"], ["each polled until completion", f"{bare['asked_us']:.2f}"],
        ["each with a blocking wait in the driver", f"{bare['waited_us']:.2f}"], ["each with a host callback", f"{bare['host_function_us']:.2f}"],
        ["Fairlead tasks with one launch, a chain", f"{tasks['chain_us']:.2f}"],
        [f"independent, {streams_of(tasks)}", f"{tasks['independent_us']:.2f}"],
        ["Fairlead tasks without a launch, a chain", f"{without['chain_us']:.2f}"],
        [f"independent, {streams_of(without)}", f"{without['independent_us']:.2f}"], *more])


def right(found: dict) -> str:
    lines = []
    for step, how in (("right results", "on the device"), ("under memcheck", "under compute-sanitizer"),
                      ("under racecheck", "under its racecheck")):
        result = found.get(("test", step))
        if result:
            worst = max(one["backward_error"] / one["limit"] for one in result["runs"])
            lines.append(f"{len(result['runs'])} runs {how}: the largest backward error is {worst:.2g} of the tolerance.")
    programs = found.get(("test", "random programs"))
    if programs:
        lines.append(f"{programs['programs']} random programs under {programs['policies']} policies had the values of sequential runs.")
    return " ".join(lines)


def cholesky(found: dict) -> str:
    rows = []
    for (call, step), result in found.items():
        if call == "bench" and step.startswith(("cholesky", "same bits")):
            runs = result["runs"]
            rows.append([step, f"{result['n']:,}", str(result["tile"]), result["scheduler"], f"{result['seconds']:.3f}",
                         f"{result['gflops']:.0f}", f"{statistics.median(one['bytes_over_wires'] for one in runs) / 1e9:.2f}",
                         f"{max(one['residual'] for one in runs):.1e}", ", ".join(sorted({one["digest"] for one in runs}))])
    return table(["run", "n", "tile", "scheduler", "s", "GFlop/s", "GB over the link", "residual", "bits"], rows) if rows else ""


def moved(result: dict) -> str:
    """The bytes that repeated runs moved, if known."""
    gigabytes_moved = sorted(one["bytes_over_wires"] / 1e9 for one in result.get("runs", []))
    return f", {gigabytes_moved[0]:.0f} to {gigabytes_moved[-1]:.0f} GB over the link" if gigabytes_moved else ""


# The locations of data that the driver moves.
PLACES = {"copies": "copied by Fairlead, with all of the memory", "host": "in pinned host memory", "write-combined": "in write-combined memory",
          "managed": "in managed memory", "advised": "in managed memory, with advice",
          "prefetched": "in managed memory, with advice and prefetch"}


def comparison(found: dict) -> str:
    rows = []
    dense = found.get(("bench", "cuSOLVER and cuBLAS"), {})
    if "potrf" in dense:
        of = dense["potrf"]
        rows += [[f"cuSOLVER's {name}, n = {of['n']:,}", "", f"{of[name + '_gflops']:.0f}"] for name in ("dpotrf", "xpotrf")
                 if name + "_gflops" in of]
    if "geqrf" in dense:
        rows.append([f"cuSOLVER's dgeqrf, n = {dense['geqrf']['n']:,}", "", f"{dense['geqrf']['dgeqrf_gflops']:.0f}"])
    if "gemm" in dense:
        rows += [[f"cuBLAS, {precision}, n = {dense['gemm']['n']:,}", "", f"{dense['gemm'][precision + '_gflops']:.0f}"]
                 for precision in ("double", "single")]
    ceiling = found.get(("bench", "tiled ceiling"))
    if ceiling:
        rows.append([f"tiled ceiling, n = {ceiling['n']:,}, tiles of {ceiling['tile']:,}: each kind of kernel alone, {streams_of(ceiling)}",
                     f"{ceiling['seconds']:.3f}", f"{ceiling['gflops']:.0f}"])
        if "together" in ceiling:
            rows.append(["the same kernels all together, in random order, without dependencies",
                         f"{ceiling['together']['seconds']:.3f}", f"{ceiling['together']['gflops']:.0f}"])
    for (call, step), result in found.items():
        if call == "bench" and (step.startswith(("gemm", "lu", "qr")) or step == "three tiers"):
            rows.append([f"{step}, n = {result['n']:,}{moved(result)}", f"{result['seconds']:.3f}", f"{result['gflops']:.0f}"])
    for (call, step), result in found.items():
        if call == "bench" and step.startswith("unified, "):
            rows.append([f"cholesky, n = {result['n']:,}, {PLACES[step.removeprefix('unified, ')]}, {streams_of(result)}",
                         f"{result['seconds']:.3f}", f"{result['gflops']:.0f}"])
    refined = found.get(("bench", "TF32 with refinement"), {})
    for one in refined.get("runs", []):
        steps = "" if one["refinement_steps"] is None else f", {one['refinement_steps']} steps"
        rows.append([f"solve {one['words']}, n = {refined['n']:,}{steps}, backward error {one['backward_error']:.1e}", f"{one['seconds']:.3f}",
                     f"{one['gflops']:.0f}"])
    predicted = found.get(("bench", "predicted"))
    if predicted:
        one = predicted["simulated"][0]
        rows.append([f"predicted from the machine file of probe: cholesky, {predicted['limit']}, n = {one['n']:,}, "
                     f"{(one['bytes_to_devices'] + one['bytes_from_devices']) / 1e9:.1f} GB over the link", f"{one['seconds']:.3f}", f"{one['gflops']:.0f}"])
    for one in found.get(("bench", "cublasXt"), {}).get("cublasxt", {}).get("runs", []):
        rows.append([f"cublasXt, blocks of {one['block']}, {'registered' if one['pinned'] else 'not registered'}",
                     f"{one['seconds']:.3f}", f"{one['gflops']:.0f}"])
    return table(["what", "s", "GFlop/s"], rows) if rows else ""
