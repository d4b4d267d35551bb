"""The engine on the bundled models."""

import json
from pathlib import Path

import numpy as np
import pytest

import spectr

MODELS = Path(__file__).resolve().parents[2] / "models"
SETTINGS = {"method": "spectr", "drafts": 2, "length": 3, "max_tokens": 16, "ignore_eos": True}


@pytest.fixture(scope="module")
def engine():
    return spectr.Engine(
        MODELS / "spectr-stories-7m-q8_0.gguf", MODELS / "spectr-stories-draft-0.6m-q8_0.gguf", threads=1
    )


def test_equal_seeds_give_equal_completions(engine):
    first = engine.generate("Once upon a time", seed=3, **SETTINGS)
    again = engine.generate(engine.tokenize("Once upon a time"), seed=3, **SETTINGS)
    assert first.tokens == again.tokens and first.text == again.text
    assert len(first.tokens) == 16 and first.stop_reason == "limit"
    assert first.statistics["method"] == "spectr" and first.statistics["generated"] == 16
    assert first.tokens != engine.generate("Once upon a time", seed=4, **SETTINGS).tokens


def test_a_stream_gives_the_text_in_pieces(engine):
    whole = engine.generate("Once upon a time", seed=3, **SETTINGS)
    with engine.stream("Once upon a time", seed=3, **SETTINGS) as stream:
        pieces = list(stream)
        assert stream.statistics["generated"] == 16
    assert "".join(piece.text for piece in pieces) == whole.text


def test_a_stream_that_is_closed_ends(engine):
    stream = engine.stream("Once upon a time", max_tokens=None, ignore_eos=True)
    next(stream)
    stream.close()
    assert list(stream) == []
    assert engine.generate("Once", max_tokens=1).tokens


def test_chat_answers_a_conversation(engine):
    messages = [{"role": "user", "content": "Once upon a time"}]
    answer = engine.chat(messages, seed=1, max_tokens=8)
    assert 1 <= len(answer.tokens) <= 8
    pieces = engine.chat(messages, seed=1, max_tokens=8, stream=True)
    assert "".join(piece.text for piece in pieces) == answer.text


def test_logits_and_perplexity_agree(engine):
    tokens = engine.tokenize("Once upon a time there was a dog.")
    rows = engine.logits(tokens, all=True).astype(np.float64)
    assert rows.shape == (len(tokens), engine.vocab)
    np.testing.assert_array_equal(engine.logits(tokens), rows[-1].astype(np.float32))
    rows -= rows.max(axis=1, keepdims=True)
    log_q = rows - np.log(np.exp(rows).sum(axis=1, keepdims=True))
    losses = -log_q[np.arange(len(tokens) - 1), tokens[1:]]
    assert engine.perplexity(tokens) == pytest.approx(np.exp(losses.mean()), rel=1e-5)


def test_texts_come_back_from_their_tokens(engine):
    assert engine.detokenize(engine.tokenize("A little dog.")).strip() == "A little dog."


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "required": ["city"],
            "additionalProperties": False,
            "properties": {"city": {"enum": ["Rome", "Oslo"]}},
        },
    },
}


def test_text_follows_its_grammar_or_schema(engine):
    settings = {**SETTINGS, "max_tokens": 60, "ignore_eos": False}
    assert engine.generate("The answer is", grammar='root ::= "yes" | "no"', **settings).text in ("yes", "no")
    schema = {"type": "string", "enum": ["red", "blue"]}
    for given in (schema, json.dumps(schema)):
        assert json.loads(engine.generate("A colour:", json_schema=given, **settings).text) in schema["enum"]
    with pytest.raises(ValueError, match="json_schema and grammar exclude each other"):
        engine.generate("Once", json_schema=schema, grammar='root ::= "yes"')
    with pytest.raises(ValueError, match="grammar"):
        engine.generate("Once", grammar="root ::= (")


def test_required_tools_are_called_and_their_results_answered(engine):
    messages = [{"role": "user", "content": "Weather?"}]
    settings = {"tools": [WEATHER], "temperature": 0.0, "max_tokens": 120}
    answer = engine.chat(messages, tool_choice="required", **settings)
    call = answer.tool_calls[0]
    assert call["type"] == "function" and call["function"]["name"] == "get_weather" and len(call["id"]) == 9
    assert json.loads(call["function"]["arguments"])["city"] in ("Rome", "Oslo") and answer.text == ""
    messages.append({"role": "assistant", "content": None, "tool_calls": answer.tool_calls})
    messages.append({"role": "tool", "content": "sunny", "tool_call_id": call["id"]})
    assert engine.chat(messages, tool_choice="none", **settings).tool_calls == []
    named = {"type": "function", "function": {"name": "get_weather"}}
    assert engine.chat(messages, tool_choice=named, **settings).tool_calls[0]["id"] != call["id"]
    with pytest.raises(ValueError, match="'tool_choice' names 'run'"):
        engine.chat(messages, tool_choice={"function": {"name": "run"}}, **settings)
    with pytest.raises(ValueError, match=r"messages\[0\]\['tool_calls'\]\[0\] must be"):
        engine.chat([{"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": "[]"}}]}])
    with pytest.raises(ValueError, match="tools and tool_choice need messages"):
        engine.generate("Once", tool_choice="required")


def test_errors_name_the_argument(engine):
    with pytest.raises(OSError, match="/does/not/exist.gguf"):
        spectr.Engine("/does/not/exist.gguf")
    with pytest.raises(ValueError, match="slots must be at least 1"):
        spectr.Engine(slots=0)
    with pytest.raises(ValueError, match="temperature"):
        engine.generate("Once", temperature=-1.0)
    with pytest.raises(ValueError, match="there is no method 'nonsense'"):
        engine.generate("Once", method="nonsense")
    with pytest.raises(ValueError, match=r"messages\[0\]"):
        engine.chat([{"role": "user"}])
    with pytest.raises(ValueError, match=r"tokens\[0\] must lie in"):
        engine.logits([10**9])
    with pytest.raises(TypeError, match="unexpected keyword"):
        engine.generate("Once", nonsense=1)
