"""Tests Anthropic's Python client against `spectr serve`: python anthropic_test.py PROGRAM"""
import anthropic
from served import STORY, TOO_LONG, Weather, raises, serve

GREEDY = {"temperature": 0}

with serve("--api-key", "secret") as address:
    client = anthropic.Anthropic(base_url=address, api_key="secret", max_retries=0)
    story = {"model": "any", "messages": STORY, "max_tokens": 16}

    whole = client.messages.create(**story, extra_body=GREEDY)
    assert whole.stop_reason == "max_tokens" and whole.usage.output_tokens == 16, whole
    with client.messages.stream(**story, extra_body=GREEDY) as stream:
        assert "".join(stream.text_stream) == whole.content[0].text
    count = client.messages.count_tokens(model="any", messages=STORY)
    assert count.input_tokens == whole.usage.input_tokens + (whole.usage.cache_read_input_tokens or 0), count

    tool = {"name": "weather", "description": Weather.__doc__, "input_schema": Weather.model_json_schema()}
    called = client.messages.create(**story | {"max_tokens": 150}, tools=[tool],
                                    tool_choice={"type": "any", "disable_parallel_tool_use": True})
    assert called.stop_reason == "tool_use", called
    Weather.model_validate(called.content[-1].input)

    with raises(anthropic.BadRequestError):
        client.messages.create(**story | {"messages": TOO_LONG})
    with raises(anthropic.AuthenticationError):
        client.with_options(api_key="wrong").messages.create(**story)
print("Anthropic's Python client works")
