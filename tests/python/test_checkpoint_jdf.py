"""Checkpoints of JDF graphs: runs that are killed at random moments have the results of an undisturbed run, bit by bit."""

import pathlib
import random

import numpy as np
import pytest
from test_checkpoint import completed, kill_until_complete, seconds_of, stopped_run

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/jdf"
CHECKPOINTS = ["--checkpoint", "C", "--checkpoint-period", "0.005s"]

# Values in NEW tiles, which are used again, and in another datum than the one that they come from; an order by controls.
FRESH = """
descA [ type = "tiled_matrix *" ]
descB [ type = "tiled_matrix *" ]
COUNT [ type = "int *" ]
steps [ type = int default = 30 ]
MAKE(k)
k = 0 .. descA->mt-1
: descA(k, 0)
READ A <- descA(k, 0)
       -> A STEP(k, 0 .. steps-1)
WRITE N <- NEW
        -> X STEP(k, 0)
CTL c <- (k > 0) ? c MAKE(k-1)
      -> (k < descA->mt-1) ? c MAKE(k+1)
BODY
{
    tile_dlaset('A', descA->mb, descA->nb, 1.0, 2.0 + k, N, descA->mb);
    if (k == 1) *COUNT = 17;
}
END

STEP(k, s)
k = 0 .. descA->mt-1
s = 0 .. steps-1
: descA(k, 0)
READ A <- A MAKE(k)
RW X <- (s == 0) ? N MAKE(k) : X STEP(k, s-1)
     -> (s < steps-1) ? X STEP(k, s+1) : descB(k, 0)
BODY
{
    tile_dgemm('N', 'N', descA->mb, descA->nb, descA->nb, 0.01, A, descA->mb, A, descA->mb, 0.5, X, descA->mb);
}
END
"""


def case(name, folder):
    """The words of a run whose result is in R.npy."""
    rng = np.random.default_rng(1)
    n, tile = 1000, 40
    words = ["jdf", "run", EXAMPLES / f"{name}.jdf", "--tile", tile]
    a = rng.standard_normal((n, n))
    if name == "cholesky":
        a = a @ a.T + n * np.eye(n)
    if name == "lu":
        a += n * np.eye(n)
    np.save(folder / "A.npy", np.asfortranarray(a))
    if name == "gemm":
        for other in "BC":
            np.save(folder / f"{other}.npy", rng.standard_normal((n, n)))
        return [*words, "--matrix", "A=A.npy", "--matrix", "B=B.npy", "--matrix", "C=C.npy", "--set", "alpha=1.5", "--set", "beta=0.5",
                "-o", "C=R.npy"]
    if name == "fresh":
        (folder / "fresh.jdf").write_text(FRESH)
        np.save(folder / "A.npy", rng.standard_normal((8 * 120, 120)))
        return ["jdf", "run", "fresh.jdf", "--tile", 120, "--matrix", "A=A.npy", "--matrix", "B=960,120,120,120", "-o", "B=R.npy"]
    return [*words, "--matrix", "A=A.npy", "-o", "A=R.npy"]


@pytest.mark.parametrize("memory", ["1GiB", "5MiB"])
@pytest.mark.parametrize("name", ["cholesky", "lu", "gemm", "fresh"])
def test_killed_runs_of_graphs_are_resumed(command, tmp_path, at_length, name, memory):
    words = [*case(name, tmp_path), "--memory", memory]
    whole = seconds_of(command, words, tmp_path)
    undisturbed = np.load(tmp_path / "R.npy")
    draws = random.Random(f"{name} {memory}")
    resumed = 0
    for number in range(40 if at_length else 1):
        (tmp_path / "R.npy").unlink()
        resumed += kill_until_complete(command, [*words, *CHECKPOINTS], tmp_path, draws, whole, number % 2 == 1)
        assert (np.load(tmp_path / "R.npy") == undisturbed).all()
        assert not (tmp_path / "C").exists()
    assert resumed > 0 or not at_length


def test_what_globals_point_to_is_a_part_of_checkpoints(command, tmp_path):
    words = [*case("fresh", tmp_path), "--set", "steps=1500"]
    stopped_run(command, tmp_path, [*words, *CHECKPOINTS])
    status, said, errors = completed(command, [*words, *CHECKPOINTS], tmp_path)
    assert status == 0 and "are finished in the checkpoint" in errors and "COUNT is 17" in said, said + errors


def test_checkpoints_of_other_graphs_are_refused(command, tmp_path):
    words = [*map(str, case("fresh", tmp_path)), "--set", "steps=1500", *CHECKPOINTS]
    stopped_run(command, tmp_path, words)
    np.save(tmp_path / "other.npy", np.load(tmp_path / "A.npy")[::-1])
    (tmp_path / "other.jdf").write_text(FRESH + "\n")
    for ours, other, text in (("A=A.npy", "A=other.npy", "its matrix descA is 960 x 120"), ("steps=1500", "steps=1501", "steps=1500"),
                              ("fresh.jdf", "other.jdf", "JDF file")):
        status, _, errors = completed(command, [other if word == ours else word for word in words], tmp_path)
        assert status == 1 and "the checkpoint is of another computation" in errors and text in errors, errors
    # Without --tile, that of the checkpoint counts.
    without_tile = [word for word in words if word not in ("--tile", "120")]
    status, _, errors = completed(command, without_tile, tmp_path)
    assert status == 0 and "are finished in the checkpoint" in errors, errors


def test_several_ranks_have_no_checkpoints(command, tmp_path):
    status, _, errors = completed(command, [*case("cholesky", tmp_path), *CHECKPOINTS, "--ranks", "2"], tmp_path)
    assert status == 2, errors
