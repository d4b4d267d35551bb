"""Tests LiteLLM against `spectr serve`: python litellm_test.py PROGRAM"""
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # nothing is downloaded
import litellm
from served import STORY, TOO_LONG, Weather, raises, serve

with serve() as address:
    story = {"messages": STORY, "max_tokens": 16, "temperature": 0, "num_retries": 0, "api_key": "none"}
    as_openai = story | {"model": "openai/any", "api_base": f"{address}/v1"}

    whole = litellm.completion(**as_openai)
    assert whole.choices[0].finish_reason == "length" and whole.usage.completion_tokens == 16, whole
    text = whole.choices[0].message.content
    assert "".join(part.choices[0].delta.content or "" for part in litellm.completion(**as_openai, stream=True)) == text
    as_anthropic = litellm.completion(**story | {"model": "anthropic/any", "api_base": address})
    assert as_anthropic.choices[0].message.content == text, as_anthropic

    answer = litellm.completion(**as_openai | {"max_tokens": 150}, response_format=Weather)
    Weather.model_validate_json(answer.choices[0].message.content)

    with raises(litellm.BadRequestError):
        litellm.completion(**as_openai | {"messages": TOO_LONG})
print("LiteLLM works")
