"""Transport plans and verification of drafts on arrays."""

from __future__ import annotations

from typing import Any, Literal, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _core
from ._arrays import check_batch, integers, numbers, stream_list, unsigned


class Plan:
    """A transport plan, which maps k drafts from p to one token distributed as q. Returned by :func:`plan`."""

    def __init__(self, core: Any) -> None:
        self._core = core

    @property
    def drafts(self) -> int:
        """The number of drafts that :meth:`draw` returns and :meth:`select` requires."""
        return self._core.drafts

    @property
    def lossless(self) -> bool:
        """Whether the output has the distribution q."""
        return self._core.lossless

    @property
    def acceptance(self) -> float:
        """The probability that a draft is accepted."""
        return self._core.acceptance()

    @property
    def bias(self) -> float:
        """The total variation between the output's distribution and q; 0 for lossless plans."""
        return self._core.bias()

    @property
    def residual(self) -> Optional[np.ndarray]:
        """The output's distribution if no draft is accepted, float64 [V].

        None if acceptance is 1 or the residual depends on the drafts.
        """
        return self._core.residual()

    def law(self) -> np.ndarray:
        """Returns the exact distribution of the output by enumeration, float64 [V].

        Raises ValueError above 200,000 tuples of drafts.
        """
        return self._core.law()

    def conditional(self, drafts: Sequence[int]) -> np.ndarray:
        """Returns the exact distribution of the output given the drafts [k], float64 [V]."""
        return self._core.conditional(integers(drafts, "drafts", (None,)))

    def draw(self, seed: int, stream: int = 0) -> np.ndarray:
        """Returns random drafts, int64 [k]. They are a function of seed and stream."""
        return self._core.draw(unsigned(seed, "seed"), unsigned(stream, "stream"))

    def select(self, drafts: Sequence[int], seed: int, stream: int = 0) -> int:
        """Returns the output token for drafts [k].

        The random numbers differ from those of :meth:`draw` with the same seed and stream.
        """
        return self.select_with_source(drafts, seed, stream)[0]

    def select_with_source(self, drafts: Sequence[int], seed: int, stream: int = 0) -> Tuple[int, bool]:
        """Returns the output token for drafts [k], and whether it is an accepted draft."""
        checked = integers(drafts, "drafts", (None,))
        return self._core.select(checked, unsigned(seed, "seed"), unsigned(stream, "stream"))


def plan(name: str, p: Any, q: Any, k: int = 1, *, epsilon: float = 0.0, rounds: int = 1) -> Plan:
    """Returns a transport plan from k drafts of p to q.

    Args:
        name: "optimal", "k-seq", "recursive", "maximal", … (docs/plans.md).
        p: The distribution of the drafts, [V].
        q: The target distribution, [V].
        k: The number of drafts.
        epsilon: The over-acceptance of "epsilon-opt" and "epsilon-uno".
        rounds: The number of linear programs of "str+", at least 1.

    Raises:
        ValueError: An argument is invalid. Float32 probabilities must sum to 1 within 1e-4, float64 within
            1e-6; they are normalised.
    """
    return Plan(_core.plan(name, numbers(p, "p", 1), numbers(q, "q", 1), unsigned(k, "k"), epsilon, rounds))


def verify(
    draft_tokens: Any,
    draft_probs: Any,
    target_probs: Any,
    method: str = "block",
    *,
    seed: int,
    streams: Optional[Sequence[int]] = None,
    block: int = 0,
    position: int = 1,
    plan: Optional[str] = None,
    epsilon: float = 0.0,
) -> Tuple[np.ndarray, np.ndarray]:
    """Verifies chains of drafted tokens.

    Args:
        draft_tokens: [B, n]; a shorter draft ends with -1.
        draft_probs: [B, n, V], the distribution that each token was drawn from.
        target_probs: [B, n + 1, V], the target's distributions: row 0 after the sequence, row i + 1 after
            token i.
        method: "block", "speculative", another method or a plan.
        seed: The seed of all rows. Row b draws from the stream (seed, b), so it does not depend on its batch.
        streams: [B], the streams of the rows instead of their numbers.
        block: The number of earlier blocks. Successive blocks of a sequence must differ in `block`, seed or
            stream.
        position: The number of earlier tokens; the command line's random numbers depend on it.
        plan: The plan of the methods "spectr", "tree" and "specinfer".
        epsilon: The over-acceptance of the biased methods.

    Returns:
        tokens: int64 [B, n + 1], padded with -1: the accepted tokens of a draft and one more.
        emitted: int64 [B], the number of tokens of each row.

    Raises:
        ValueError: A shape or a value is invalid; the message names the argument.
        TypeError: A dtype is not supported.
    """
    tokens = integers(draft_tokens, "draft_tokens", (None, None))
    batch, n = tokens.shape
    target = numbers(target_probs, "target_probs", 3)
    check_batch(target, "target_probs", batch, n + 1, None)
    draft = numbers(draft_probs, "draft_probs", 3)
    check_batch(draft, "draft_probs", batch, n, target.shape[2])
    out, emitted, _ = _core.verify(
        method,
        {"plan": plan, "epsilon": epsilon},
        tokens,
        None,
        None,
        None,
        draft,
        target,
        None,
        None,
        unsigned(seed, "seed"),
        stream_list(streams, batch),
        unsigned(block, "block"),
        unsigned(position, "position"),
    )
    return out, emitted


@overload
def verify_tree(
    parents: Any, tokens: Any, draft_probs: Any, target_probs: Any = ..., *, return_path: Literal[True], **rest: Any
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]: ...


@overload
def verify_tree(
    parents: Any, tokens: Any, draft_probs: Any, target_probs: Any = ..., **rest: Any
) -> Tuple[np.ndarray, np.ndarray]: ...


def verify_tree(
    parents: Any,
    tokens: Any,
    draft_probs: Any,
    target_probs: Any = None,
    method: str = "traversal",
    *,
    target_logits: Any = None,
    temperature: float = 1.0,
    multiplicities: Any = None,
    draft_rows: Any = None,
    k: Optional[int] = None,
    seed: int,
    streams: Optional[Sequence[int]] = None,
    block: int = 0,
    position: int = 1,
    plan: Optional[str] = None,
    look: bool = False,
    return_path: bool = False,
) -> Union[Tuple[np.ndarray, np.ndarray], Tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Verifies trees of drafted tokens.

    Args:
        parents: [B, m], the entry that each token continues, which comes before it; -1 for the sequence.
        tokens: [B, m]; a smaller tree ends with -1. Siblings must be in the order in which they were drawn,
            in which selection rules test them. Another order biases the output.
        draft_probs: [B, m, V], the distribution that each token was drawn from; or [B, m + 1, V], row 0 after
            the sequence and row i + 1 after entry i; or [B, r, V] with `draft_rows`.
        target_probs: [B, m + 1, V], row 0 after the sequence and row i + 1 after entry i.
        method: "traversal", "conditional", "gbv", …, or a plan that walks down the tree: "optimal", "k-seq".
        target_logits: [B, m + 1, V], instead of target_probs.
        temperature: The temperature of target_logits; 0 takes the likeliest token.
        multiplicities: [B, m], the number of copies of each token that were drawn. If they are given, siblings
            may be in any order: the order of independent draws is redrawn, which is lossless.
        draft_rows: [B, m], the row of draft_probs that each token was drawn from.
        k: The number of drafts that continue the sequence, copies included; checked if it is given.
        seed, streams, block, position: See :func:`verify`.
        plan: The plan of the methods "spectr", "tree" and "specinfer".
        look: "conditional" tries the most promising children first.
        return_path: Also return the accepted entries.

    Returns:
        tokens: int64 [B, m + 1], padded with -1: the accepted tokens and one more.
        emitted: int64 [B], the number of tokens of each row.
        path: int64 [B, m], padded with -1: the accepted entries, whose keys and values a cache keeps.

    Raises:
        ValueError: A shape or a value is invalid; the message names the argument.
        TypeError: A dtype is not supported.
    """
    entries = integers(tokens, "tokens", (None, None))
    batch, m = entries.shape
    if (target_probs is None) == (target_logits is None):
        raise ValueError("exactly one of target_probs and target_logits must be given")
    name = "target_probs" if target_logits is None else "target_logits"
    target = numbers(target_probs if target_logits is None else target_logits, name, 3)
    check_batch(target, name, batch, m + 1, None)
    draft = numbers(draft_probs, "draft_probs", 3)
    check_batch(draft, "draft_probs", batch, None, target.shape[2])
    above = integers(parents, "parents", (batch, m))
    if draft_rows is not None:
        rows = integers(draft_rows, "draft_rows", (batch, m))
    elif draft.shape[1] == m + 1:
        rows = np.ascontiguousarray(above + 1)
    else:
        rows = None
        check_batch(draft, "draft_probs", batch, m, None)
    copies = None
    if multiplicities is not None:
        copies = integers(multiplicities, "multiplicities", (batch, m))
    out, emitted, path = _core.verify(
        method,
        {"plan": plan, "look": look},
        entries,
        above,
        copies,
        rows,
        draft,
        target,
        None if target_logits is None else float(temperature),
        None if k is None else unsigned(k, "k"),
        unsigned(seed, "seed"),
        stream_list(streams, batch),
        unsigned(block, "block"),
        unsigned(position, "position"),
    )
    return (out, emitted, path) if return_path else (out, emitted)
