"""The Python blocks of the documents run, on the bundled models; arrays that docs/python.md assumes are given."""

import contextlib
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


def test_the_package_has_the_version_of_the_library():
    assert f'version = "{spectr.__version__}"' in (ROOT / "pyproject.toml").read_text()
