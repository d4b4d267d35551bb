"""Speculative decoding of models that are called as those of transformers are."""

from types import SimpleNamespace

import numpy as np
import pytest

import spectr.hf

LOGITS = np.random.default_rng(3).normal(size=(2, 4, 4))  # by model and last token


def model(which, calls=None):
    def call(ids):
        if calls is not None:
            calls.append(ids.shape[1])
        return SimpleNamespace(logits=LOGITS[which][ids])

    return call


def test_follows_the_target():
    """The second token after a prompt is distributed as the target's, by a test with a fixed seed."""
    n, counts = 1500, np.zeros((4, 4))
    for seed in range(n):
        first, second = spectr.hf.generate(
            model(1), model(0), np.array([2]), seed=seed, length=2, max_new_tokens=2
        )
        counts[first, second] += 1
    q = np.exp(LOGITS[1]) / np.exp(LOGITS[1]).sum(axis=1, keepdims=True)
    expected = q[2][:, np.newaxis] * q
    assert (abs(counts / n - expected) < 5 * np.sqrt(expected * (1 - expected) / n)).all()


def test_is_greedy_at_temperature_0():
    ids = [2]
    for _ in range(9):
        ids.append(int(LOGITS[1][ids[-1]].argmax()))
    found = spectr.hf.generate(model(1), model(0), np.array([[2]]), seed=1, temperature=0.0, max_new_tokens=9)
    assert found == ids[1:]


def test_takes_fewer_passes_than_tokens():
    calls = []
    tokens = spectr.hf.generate(model(1, calls), model(1), np.array([2]), seed=1, length=3, max_new_tokens=40)
    assert len(tokens) == 40 and len(calls) == 10  # every draft of an equal model is accepted


def test_ends_at_the_end_token():
    tokens = spectr.hf.generate(model(1), model(0), np.array([2]), seed=1, eos_token_id=0, max_new_tokens=500)
    assert tokens[-1] == 0 and 0 not in tokens[:-1]


def test_errors_name_the_argument():
    with pytest.raises(ValueError, match="input_ids is empty"):
        spectr.hf.generate(model(1), model(0), np.array([], dtype=int), seed=1)
    with pytest.raises(ValueError, match="draft has a vocabulary of 3, but target has 4"):
        narrow = lambda ids: SimpleNamespace(logits=LOGITS[0][ids][:, :, :3])
        spectr.hf.generate(model(1), narrow, np.array([2]), seed=1)
