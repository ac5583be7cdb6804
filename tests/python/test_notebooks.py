"""The notebooks in examples/notebooks: their cells run, in small sizes; with --long in full size, in a kernel of Jupyter if
nbclient is installed. A cell with the tag "parameters" sets the sizes, and the notebook's metadata has small ones."""

import builtins
import importlib
import importlib.util
import json
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))
LONGEST_NOTEBOOK_SECONDS = 600


def cells(notebook):
    """The sources of the cells with code, and whether they set parameters."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            yield "".join(cell["source"]), "parameters" in cell["metadata"].get("tags", [])


def run_here(path, notebook, sizes):
    """In one namespace, as a kernel does."""
    namespace = {"__name__": "__main__", "__builtins__": builtins}
    for number, (source, sets_parameters) in enumerate(cells(notebook)):
        exec(compile(source, f"{path.name}, cell {number} with code", "exec"), namespace)  # noqa: S102 - it is ours
        if sets_parameters:
            assert set(sizes) <= set(namespace), f"{path.name}: its cell with parameters does not set all of {set(sizes)}"
            namespace.update(sizes)


def run_in_kernel(path, library, folder):
    nbclient, nbformat = importlib.import_module("nbclient"), importlib.import_module("nbformat")
    client = nbclient.NotebookClient(nbformat.read(path, 4), timeout=LONGEST_NOTEBOOK_SECONDS, kernel_name="python3",
                                     resources={"metadata": {"path": str(folder)}})
    client.execute(env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "LIBFAIRLEAD": str(library)})


def test_there_are_three():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(fl, request, path, tmp_path, monkeypatch):
    notebook = json.loads(path.read_text())
    monkeypatch.chdir(tmp_path)
    if not request.config.getoption("--long"):
        run_here(path, notebook, notebook["metadata"]["small"])
    elif all(importlib.util.find_spec(name) for name in ("nbclient", "nbformat", "ipykernel")):
        run_in_kernel(path, pathlib.Path(request.config.getoption("--library")).resolve(), tmp_path)
    else:
        run_here(path, notebook, {})


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_outputs_are_of_whole_runs_without_errors(path):
    notebook = json.loads(path.read_text())
    coded = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in coded] == list(range(1, len(coded) + 1))
    outputs = [output for cell in coded for output in cell["outputs"]]
    assert outputs and all(output["output_type"] != "error" for output in outputs)
    text = "".join("".join(output.get("text", "")) for output in outputs)
    assert str(ROOT) not in text and "/tmp" not in text
