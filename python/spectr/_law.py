"""Exact distributions of methods on pairs of tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._arrays import host_array, unsigned

Output = Tuple[int, ...]
Table = Union[np.ndarray, Mapping[Output, Any]]


def _steps(value: Any, name: str) -> np.ndarray:
    """Returns rows [steps, V, V] of a table [V], [V, V] or [steps, V, V]."""
    array = np.asarray(host_array(value, name), dtype=np.float64)
    if array.ndim not in (1, 2, 3) or array.size == 0:
        raise ValueError(f"{name} must have shape [V], [V, V] or [steps, V, V], got {list(array.shape)}")
    vocab = array.shape[-1]
    if array.ndim == 1:
        array = np.broadcast_to(array, (1, vocab, vocab))
    if array.ndim == 2:
        array = array[np.newaxis]
    if array.shape[1] != vocab:
        raise ValueError(f"{name} must have shape [V], [V, V] or [steps, V, V], got {list(array.shape)}")
    return np.ascontiguousarray(array)


def _prefixes(value: Mapping[Output, Any], name: str) -> Dict[Output, list]:
    rows = {}
    for prefix, row in value.items():
        key = tuple(int(token) for token in prefix)
        rows[key] = [float(p) for p in row]
    if () not in rows:
        raise ValueError(f"{name} has no row for the empty prefix ()")
    return rows


def _checked(value: Table, name: str) -> Tuple[Any, int]:
    """Returns a table as the library takes it, and its V."""
    if isinstance(value, Mapping):
        rows = _prefixes(value, name)
        return rows, len(rows[()])
    steps = _steps(value, name)
    return steps, steps.shape[-1]


def row_function(table: Any, start: int) -> Callable[[Output], np.ndarray]:
    """Returns the function from a prefix to its row, of a checked table."""
    if isinstance(table, dict):

        def by_prefix(prefix: Output) -> np.ndarray:
            for dropped in range(len(prefix) + 1):
                if prefix[dropped:] in table:
                    return np.asarray(table[prefix[dropped:]])
            raise AssertionError("the empty prefix has a row")

        return by_prefix
    return lambda prefix: table[min(len(prefix), len(table) - 1), prefix[-1] if prefix else start]


def distribution_of(row: Callable[[Output], np.ndarray], horizon: int) -> Dict[Output, float]:
    """Returns the distribution of sequences of `horizon` tokens that are drawn from rows."""
    level: Dict[Output, float] = {(): 1.0}
    for _ in range(horizon):
        longer = {}
        for prefix, mass in level.items():
            for token, p in enumerate(row(prefix)):
                if p > 0.0:
                    longer[prefix + (token,)] = mass * float(p)
        level = longer
    return level


def total_variation(a: Mapping[Output, float], b: Mapping[Output, float]) -> float:
    """Returns ½ Σ |a − b|."""
    outputs = set(a) | set(b)
    return 0.5 * math.fsum(abs(a.get(output, 0.0) - b.get(output, 0.0)) for output in outputs)


@dataclass(frozen=True)
class Law:
    """The exact distribution of a method's output, and its costs. Returned by :func:`law`."""

    distribution: Dict[Output, float]  #: the probability of every sequence of `horizon` tokens
    horizon: int
    expected_tokens: Optional[float]  #: of the first block of an infinite sequence; None: too many outcomes
    expected_target_calls: float  #: for one sequence of `horizon` tokens
    expected_rejections: float  #: the expected number of blocks that end in a correction
    tv_error: float  #: total variation to the target's own distribution
    start: int

    @property
    def block_efficiency(self) -> float:
        """The number of tokens per pass of the target: horizon / expected_target_calls."""
        return self.horizon / self.expected_target_calls

    def tv(self, target: Union[Table, Mapping[Output, float]]) -> float:
        """Returns the total variation to the distribution of a target.

        Args:
            target: A table as :func:`law` takes it, or a distribution of sequences of `horizon` tokens.
        """
        if isinstance(target, Mapping) and () not in target:
            return total_variation(self.distribution, target)
        table, _ = _checked(target, "target")
        return total_variation(self.distribution, distribution_of(row_function(table, self.start), self.horizon))


def law(
    method: str,
    draft: Table,
    target: Table,
    horizon: int = 4,
    *,
    plan: Optional[str] = None,
    drafts: int = 1,
    length: int = 2,
    tree: Sequence[int] = (),
    trunk: int = 0,
    look: bool = False,
    epsilon: float = 0.0,
    rounds: int = 1,
    tau: float = 0.1,
    start: int = 0,
) -> Law:
    """Returns the exact distribution of a method's output, by enumeration of every outcome.

    Args:
        method: "spectr", "block", "traversal", … (docs/methods).
        draft, target: The models as tables: one row [V] for every position, rows [V, V] by last token, rows
            [steps, V, V] by step and last token (later steps use the last step's), or a dictionary of rows by
            prefix (a prefix without a row uses that of its longest suffix that has one).
        horizon: The number of tokens of a sequence.
        plan: The plan, of methods that have one.
        drafts, length: K draft sequences of L tokens.
        tree: The factors k1, k2, … of a prefix tree.
        trunk: The number of tokens that K sequences share before they branch.
        look, epsilon, rounds, tau: Settings of single methods (docs/methods).
        start: The token before the sequence, which selects the first row.

    Raises:
        ValueError: An argument is invalid, or there are more than 5e7 outcomes or 1e6 sequences.
    """
    p, vocab = _checked(draft, "draft")
    q, target_vocab = _checked(target, "target")
    if vocab != target_vocab:
        raise ValueError(f"draft has a vocabulary of {vocab}, but target has {target_vocab}")
    settings = {
        "plan": plan,
        "drafts": unsigned(drafts, "drafts"),
        "length": unsigned(length, "length"),
        "tree": [unsigned(factor, "tree") for factor in tree],
        "trunk": unsigned(trunk, "trunk"),
        "look": look,
        "epsilon": epsilon,
        "rounds": rounds,
        "tau": tau,
    }
    sequences, numbers = _core.law(
        method, settings, p, q, vocab, unsigned(horizon, "horizon"), unsigned(start, "start")
    )
    return Law(distribution=dict(sequences), horizon=horizon, start=start, **numbers)
