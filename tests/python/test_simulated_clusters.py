"""fairlead simulate --ranks: the output for a factorization on several nodes, compared with counts from the
algorithm alone."""

import json
import subprocess

import pytest


def simulate(command, *arguments):
    return subprocess.run([command, "simulate", *map(str, arguments)], capture_output=True, text=True, timeout=300)


def simulated(command, folder, *arguments):
    done = simulate(command, *arguments, "--json", folder / "run.json")
    assert done.returncode == 0, done.stderr
    (run,) = json.loads((folder / "run.json").read_text())
    return run, done.stdout


def cholesky(tiles, rows, columns):
    """For each rank the payloads that it sends, and its tasks: tile (m, n) is on rank (m mod rows) columns + n mod columns."""
    def owner(m, n):
        return m % rows * columns + n % columns

    users = {}  # of what a task leaves that others read: the tiles of those
    tasks = [0] * (rows * columns)
    for k in range(tiles):
        tasks[owner(k, k)] += 1
        for m in range(k + 1, tiles):
            tasks[owner(m, k)] += 1
            users.setdefault((k, k), []).append((m, k))
            for n in range(k + 1, m + 1):
                tasks[owner(m, n)] += 1
                for read in {(m, k), (n, k)}:
                    users.setdefault(read, []).append((m, n))
    sent = [0] * (rows * columns)
    for tile, by in users.items():
        sent[owner(*tile)] += len({owner(*other) for other in by} - {owner(*tile)})
    return sent, tasks


@pytest.mark.parametrize("tiles, rows, columns", [(4, 2, 2), (9, 3, 4), (10, 2, 2), (12, 1, 3), (20, 3, 3)])
def test_each_rank_sends_what_others_need(command, tmp_path, tiles, rows, columns):
    run, text = simulated(command, tmp_path, "cholesky", "--machine", "griffon", "--n", tiles * 100, "--tile", 100,
                          "--ranks", rows * columns, "--grid", f"{rows}x{columns}")
    sent, tasks = cholesky(tiles, rows, columns)
    ranks = run["of_each_rank"]
    assert [rank["payloads"] for rank in ranks] == sent
    assert [rank["activates"] for rank in ranks] == sent
    assert [rank["tasks"] for rank in ranks] == tasks
    assert [rank["payload_bytes"] for rank in ranks] == [80_000 * count for count in sent]
    assert sum(rank["bytes_in"] for rank in ranks) == sum(rank["bytes_out"] for rank in ranks) > run["payload_bytes"]
    for rank in ranks:
        waits = rank["waiting_for_network_seconds"] + rank["waiting_for_others_seconds"]
        assert rank["computing_seconds"] + waits == pytest.approx(8 * run["seconds"])
        assert rank["peak_memory_bytes"] >= 80_000
    assert f"{rows * columns} ranks in a grid of {rows} x {columns}" in text
    assert len(text.strip().split("\nrank ")[1].splitlines()) == 1 + rows * columns


def test_a_run_is_determined_by_its_seed(command, tmp_path):
    asked = ("cholesky", "--machine", "dancer", "--n", 1200, "--tile", 100, "--ranks", 6, "--noise", 10)
    first, again = (simulated(command, tmp_path, *asked)[0] for _ in range(2))
    other = simulated(command, tmp_path, *asked, "--seed", 2)[0]
    assert first["command_digest"] == again["command_digest"]
    assert first["seconds"] == again["seconds"] != other["seconds"]
    assert (first["grid_rows"], first["grid_columns"]) == (2, 3)


def test_many_ranks_are_summed_up_and_a_slower_network_takes_longer(command, tmp_path):
    asked = ("lu", "--n", 4000, "--tile", 100, "--ranks", 20, "--front", "ptg")
    run, text = simulated(command, tmp_path, *asked, "--machine", "griffon")
    table = text.split("\nrank ")[1]
    assert [line.split()[0] for line in table.splitlines()[1:]] == ["least", "mean", "most"]
    machine = subprocess.run([command, "machines", "griffon"], capture_output=True, text=True, check=True).stdout
    (tmp_path / "slow.toml").write_text(machine.replace('bandwidth = "1.9GB/s"', 'bandwidth = "100MB/s"'))
    slow = simulated(command, tmp_path, *asked, "--machine", tmp_path / "slow.toml")[0]
    assert slow["seconds"] > 2 * run["seconds"]
    assert slow["payloads"] == run["payloads"]


def test_values_may_be_eager_and_use_broadcast_trees(command, tmp_path):
    asked = ("cholesky", "--machine", "griffon", "--n", 400, "--tile", 20, "--ranks", 9)
    plain = simulated(command, tmp_path, *asked)[0]
    eager = simulated(command, tmp_path, *asked, "--eager-limit", "4KiB")[0]
    tree = simulated(command, tmp_path, *asked, "--broadcast-tree", 3)[0]
    assert eager["eager_bytes"] > 0 and eager["requests"] < plain["requests"]
    assert eager["eager_bytes"] + eager["payload_bytes"] == plain["payload_bytes"]
    assert tree["payloads"] == plain["payloads"]
    # Other ranks than the producer of a value forward it.
    assert [rank["payloads"] for rank in tree["of_each_rank"]] != [rank["payloads"] for rank in plain["of_each_rank"]]


@pytest.mark.parametrize("arguments, says", [
    (("--ranks", 82, "--n", 5000), "griffon has 81 nodes, not 82"),
    (("--ranks", 6, "--grid", "2x2"), "--grid 2x2 has 4 ranks, but --ranks is 6"),
    (("--grid", "2by3"), '--grid is "2by3", but must be rows and columns'),
    (("--grid", "0x3"), '--grid is "0x3", but must be rows and columns'),
    (("--ranks", 7, "--n", 600), "fewer than the grid of 1 x 7"),
    (("--ranks", 2, "--front", "jdf"), "--front ptg"),
    (("--ranks", 2, "--report", "run.html"), "--report does not work with several ranks"),
    (("--ranks", 2, "--first-run"), "--first-run does not work with several ranks"),
    (("--ranks", 2, "--memory", "1MB"), "does not fit in the 1MB of a node"),
    (("--broadcast-tree", 3), "--broadcast-tree is for several ranks"),
    (("--eager-limit", "1KiB"), "--eager-limit is for several ranks"),
    (("--ranks-per-node", 2), "--ranks-per-node is for several ranks"),
    (("--ranks", 2, "--ranks-per-node", 3), "which 3 ranks cannot divide among them"),
    (("--ranks", 2, "--receive-into", "random"), "no device is used"),
    (("--ranks", 2, "--receive-into", "hosts"), "host"),
    (("--ranks", 2, "--scheduler", "no-such-policy"), "no-such-policy"),
    (("--ranks", 2, "--machine", "hannibal"), "has 1 node, not 2"),
])
def test_invalid_options_are_reported(command, arguments, says):
    done = simulate(command, "cholesky", "--machine", "griffon", "--n", 2000, "--tile", 100, *arguments)
    assert done.returncode != 0
    assert says in done.stderr
    assert "internal" not in done.stderr


def test_workloads_without_a_graph_over_ranks_are_refused(command):
    done = simulate(command, "qr", "--machine", "griffon", "--ranks", 4, "--n", 2000, "--tile", 100)
    assert done.returncode != 0 and "cholesky, lu, gemm" in done.stderr


def test_values_arrive_in_the_selected_memory(command, tmp_path):
    asked = ("cholesky", "--machine", "frontier", "--n", 16384, "--tile", 2048, "--ranks", 8, "--ranks-per-node", 4,
             "--advice", "cyclic", "--scheduler", "owner-user")
    host, advised = (simulated(command, tmp_path, *asked, "--receive-into", into)[0] for into in ("host", "advised"))
    loaded = [sum(rank["bytes_to_devices"] for rank in run["of_each_rank"]) for run in (host, advised)]
    assert host["payload_bytes"] == advised["payload_bytes"]
    assert loaded[0] >= loaded[1] + host["payload_bytes"]
    assert advised["seconds"] < host["seconds"]


def test_help_lists_options_of_ranks(command):
    text = simulate(command, "--help-all").stdout
    for option in ("--ranks", "--grid", "--eager-limit", "--broadcast-tree", "--ranks-per-node", "--receive-into"):
        assert option in text
