"""The Python blocks of the documents run, on the bundled models; arrays that docs/python.md assumes are given."""

import contextlib
import inspect
import io
import re
from pathlib import Path

import numpy as np

import spectr

ROOT = Path(__file__).resolve().parents[2]


def blocks_of(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)


def uniform(rows, vocab):
    return np.full((1, rows, vocab), 1.0 / vocab)


def test_the_page_runs():
    names = {"step": 0}
    for block in blocks_of("python.md"):
        if "transformers" in block:
            continue  # requires external models
        if "spectr.verify(" in block:
            names.update(draft_tokens=[[0, 1]], draft_probs=uniform(2, 2), target_probs=uniform(3, 2))
        if "spectr.verify_tree(" in block:
            names.update(draft_probs=uniform(3, 8), target_probs=uniform(4, 8))
        with contextlib.redirect_stdout(io.StringIO()):
            exec(block.replace('spectr.Engine("target.gguf", ["draft.gguf"])', "spectr.Engine()"), names)
    assert names["token"] in (0, 1, 2) and names["emitted"][0] >= 1
    assert names["report"] and names["law"].tv(names["target"]) < 1e-12
    assert names["engine"].vocab > 0


def test_the_quick_start_runs():
    names = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for block in blocks_of("quick-start.md"):
            exec(block, names)
    assert printed.getvalue().strip() and names["emitted"][0] >= 1 and names["report"]


def public_functions():
    """Returns (name, function) of the functions, methods and properties of the package."""
    owners = [(name, getattr(spectr, name)) for name in spectr.__all__ if name != "__version__"]
    for name, owner in owners + [("hf.generate", spectr.hf.generate)]:
        if inspect.isfunction(owner):
            yield name, owner
        if not inspect.isclass(owner):
            continue
        for member, value in vars(owner).items():
            function = value.fget if isinstance(value, property) else value
            if inspect.isfunction(function) and not member.startswith("_"):
                yield f"{name}.{member}", function


def test_every_public_function_has_a_docstring_that_is_a_sentence():
    functions = dict(public_functions())
    assert {"verify", "Plan.acceptance", "Engine.chat", "hf.generate"} <= set(functions)
    for name, function in functions.items():
        first = (inspect.getdoc(function) or "").split("\n\n")[0]
        assert re.match(r"[A-Z]", first) and first.rstrip().endswith("."), f"{name}: {first!r}"
        assert not re.match(r"(Of|Those|What|As|And|The same)\b", first), f"{name}: {first!r}"


def test_docstrings_name_every_argument_and_the_shapes_of_arrays():
    arrays = {"p", "q", "logits", "drafts", "draft_tokens", "draft_probs", "target_probs", "target_logits", "parents"}
    arrays |= {"multiplicities", "draft_rows", "streams", "input_ids", "weights"}
    for name, function in public_functions():
        text = inspect.getdoc(function)
        for argument, parameter in inspect.signature(function).parameters.items():
            if argument != "self" and parameter.kind != inspect.Parameter.VAR_KEYWORD and "Args:" in text:
                assert re.search(rf"\b{argument}\b", text), f"{name}: {argument}"
            if argument in arrays and not isinstance(parameter.default, int):
                assert re.search(r"\[[A-Za-z0-9, +]+\]", text), f"{name}: no shape of {argument}"


def test_the_package_has_the_version_of_the_library():
    assert f'version = "{spectr.__version__}"' in (ROOT / "pyproject.toml").read_text()
