"""Ranks of one machine that read values in each other's memory: the same bits as by MPI, what the report says of it, and
what happens where the system forbids it."""

import json
import sys

import pytest

from ranks import said, start

# A container that forbids process_vm_readv, for the ranks that the first argument names.
FORBIDDING = """
import ctypes, os, platform, struct, sys
rank = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK"))
if rank in sys.argv[1].split(","):
    call = {"x86_64": 310, "aarch64": 270}[platform.machine()]
    steps = [(0x20, 0, 0, 0), (0x15, 0, 1, call), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]
    filter = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(filter)))
    libc = ctypes.CDLL(None, use_errno=True)
    forbidden = libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
    assert forbidden, os.strerror(ctypes.get_errno())
# MPI is to do without it as well.
os.environ.update(OMPI_MCA_btl_vader_single_copy_mechanism="none", UCX_TLS="^cma")
os.execv(sys.argv[2], sys.argv[2:])
"""
RANKS = 4
BENCH = ["bench", "cholesky", "--tile", 64, "--digest", "--json", "r.json", "--workers", 1]
SMALL = [*BENCH, "--n", 640, "--memory", "64MiB"]


def report_of(done, folder):
    assert (done.returncode, said(done)) == (0, []), done.stderr
    return json.loads((folder / "r.json").read_text())


def total(report, figure):
    return sum(rank[figure] for rank in report["ranks"])


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
@pytest.mark.parametrize("front, n, memory", [
    ("ptg", 640, "64MiB"),
    ("ptg", 1600, "2MiB"),
    ("flow", 640, "64MiB"),
    ("flow", 1600, "3MiB"),
])
def test_values_are_read_from_the_memory_of_other_ranks(command, tmp_path, launcher, front, n, memory):
    digests, values = set(), set()
    for reads in ("on", "off"):
        done = start(command, tmp_path, launcher, RANKS,
                     [*BENCH, "--n", n, "--front", front, "--memory", memory, "--node-local-reads", reads])
        report = report_of(done, tmp_path)
        digests.add(report["factor_digest"])
        values.add((total(report, "payloads"), total(report, "payload_bytes")))
        # With much room all that goes is read, with little what there is room to offer.
        read = total(report, "payloads_read")
        assert (read > 0) == (reads == "on")
        assert total(report, "payload_bytes_read") <= total(report, "payload_bytes")
        if reads == "on" and memory == "64MiB":
            assert read == total(report, "payloads")
        assert ("values read where they were" in done.stdout) == (reads == "on")
        assert (total(report, "bytes_written") > 0) == (memory != "64MiB")
        assert "no_direct_read_reason" not in report
    assert len(digests) == len(values) == 1


def forbidding(command, folder, ranks):
    """A command that is not allowed to read, on these ranks."""
    (folder / "forbidding.py").write_text(FORBIDDING)
    wrapped = folder / "forbidden"
    wrapped.write_text(f'#!/bin/sh\nexec {sys.executable} {folder}/forbidding.py {ranks} {command} "$@"\n')
    wrapped.chmod(0o755)
    return wrapped


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
@pytest.mark.parametrize("ranks, words", [
    ("0,1,2,3", "ranks of one machine may not read each other's memory (Operation not permitted)"),
    ("2", "ranks of one machine may not read each other's memory, 3 of 12 pairs of them (Operation not permitted)"),
])
def test_values_use_mpi_if_the_system_forbids_reads(command, tmp_path, launcher, ranks, words):
    digest = report_of(start(command, tmp_path, launcher, RANKS, SMALL), tmp_path)["factor_digest"]
    forbidden = forbidding(command, tmp_path, ranks)
    done = start(forbidden, tmp_path, launcher, RANKS, SMALL)
    report = report_of(done, tmp_path)
    assert report["factor_digest"] == digest
    assert report["no_direct_read_reason"] == words
    assert done.stdout.count(words) == 1
    if ranks == "2":
        assert 0 < total(report, "payloads_read") < total(report, "payloads")
    else:
        assert total(report, "payloads_read") == 0
    done = start(forbidden, tmp_path, launcher, RANKS, [*SMALL, "--node-local-reads", "on"])
    assert done.returncode == 2
    assert len(said(done)) == 1 and words in said(done)[0], done.stderr
