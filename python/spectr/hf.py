"""Speculative decoding of two models of Hugging Face's transformers."""

from __future__ import annotations

from typing import Any, List, Optional

import numpy as np

from ._arrays import host_array, unsigned
from ._selection import verify


def _rows(model: Any, ids: List[int], like: Any, count: int) -> np.ndarray:
    """Returns the logits after each of the last `count` tokens, float64 [count, V]."""
    if isinstance(like, np.ndarray):
        logits = model(np.asarray([ids])).logits
    else:
        import torch

        with torch.no_grad():
            logits = model(torch.as_tensor([ids], device=like.device)).logits.float().cpu()
    return np.asarray(host_array(logits, "logits"), dtype=np.float64)[0, -count:]


def _distribution(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Returns softmax(logits / temperature) along the last axis; the likeliest token at temperature 0."""
    if temperature == 0.0:
        return np.eye(logits.shape[-1])[logits.argmax(axis=-1)]
    weights = np.exp((logits - logits.max(axis=-1, keepdims=True)) / temperature)
    return weights / weights.sum(axis=-1, keepdims=True)


def generate(
    target: Any,
    draft: Any,
    input_ids: Any,
    *,
    seed: int,
    method: str = "block",
    length: int = 4,
    max_new_tokens: int = 64,
    temperature: float = 1.0,
    eos_token_id: Optional[int] = None,
) -> List[int]:
    """Generates tokens with the target's distribution, by drafts of a smaller model.

    Args:
        target, draft: Models with the same vocabulary, whose call with ids [1, n] has `.logits` [1, n, V].
        input_ids: The prompt, [n] or [1, n]: a tensor, or a NumPy array for models that accept those.
        seed: The tokens are a function of it.
        method: A method for chains, see :func:`spectr.verify`.
        length: The number of tokens of a draft.
        max_new_tokens: The maximum number of new tokens.
        temperature: The temperature of both models; 0 takes the likeliest token.
        eos_token_id: The token that ends the sequence.

    Returns:
        The new tokens [n]. Every pass computes the whole sequence again.

    Raises:
        ValueError: The prompt is empty, a setting is negative, or the vocabularies differ.
    """
    ids = [int(token) for token in np.ravel(np.asarray(host_array(input_ids, "input_ids")))]
    if not ids:
        raise ValueError("input_ids is empty")
    if length < 0 or not temperature >= 0.0:
        raise ValueError(f"length and temperature must not be negative, got {length} and {temperature}")
    random = np.random.default_rng(unsigned(seed, "seed"))
    new: List[int] = []
    block = 0
    while len(new) < max_new_tokens:
        drafted: List[int] = []
        rows = []
        for _ in range(min(length, max_new_tokens - len(new) - 1)):
            rows.append(_distribution(_rows(draft, ids + new + drafted, input_ids, 1)[0], temperature))
            drafted.append(int(random.choice(len(rows[-1]), p=rows[-1])))
        logits = _rows(target, ids + new + drafted, input_ids, len(drafted) + 1)
        q = _distribution(logits, temperature)
        if rows and len(rows[0]) != q.shape[1]:
            raise ValueError(f"draft has a vocabulary of {len(rows[0])}, but target has {q.shape[1]}")
        p = np.reshape(rows, (1, len(drafted), q.shape[1]))
        tokens, emitted = verify(
            np.reshape(np.asarray(drafted, dtype=np.int32), (1, -1)), p, q[np.newaxis], method, seed=seed, block=block
        )
        for token in tokens[0][: emitted[0]].tolist():
            new.append(token)
            if token == eos_token_id:
                return new
        block += 1
    return new
