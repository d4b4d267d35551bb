"""Tests OpenAI's Python client against `spectr serve`: python openai_test.py PROGRAM"""
import openai
from served import STORY, TOO_LONG, Weather, raises, serve

with serve("--api-key", "secret", "-np", "1") as address:
    client = openai.OpenAI(base_url=f"{address}/v1", api_key="secret", max_retries=0)
    story = {"model": "any", "messages": STORY, "max_tokens": 16, "temperature": 0}

    whole = client.chat.completions.create(**story)
    assert whole.choices[0].finish_reason == "length" and whole.usage.completion_tokens == 16, whole
    parts = client.chat.completions.create(**story, stream=True)
    assert "".join(part.choices[0].delta.content or "" for part in parts) == whole.choices[0].message.content

    parsed = client.chat.completions.parse(**story | {"max_tokens": 150}, response_format=Weather)
    assert isinstance(parsed.choices[0].message.parsed, Weather), parsed
    tool = openai.pydantic_function_tool(Weather, name="weather")
    called = client.chat.completions.create(**story | {"max_tokens": 150}, tools=[tool], tool_choice="required",
                                            parallel_tool_calls=False)
    assert called.choices[0].finish_reason == "tool_calls", called
    Weather.model_validate_json(called.choices[0].message.tool_calls[0].function.arguments)

    answer = client.responses.create(model="any", input=STORY, max_output_tokens=16, temperature=0)
    assert answer.status == "incomplete" and answer.output_text == whole.choices[0].message.content, answer

    # A stream that the client leaves ends its completion: the only slot is free for the next one.
    with client.chat.completions.create(**story | {"max_tokens": 400}, stream=True) as endless:
        next(iter(endless))
    last = list(client.chat.completions.create(**story, stream=True, stream_options={"include_usage": True}))[-1]
    assert last.usage.completion_tokens == 16 and last.usage.completion_tokens_details.reasoning_tokens == 0, last

    with raises(openai.NotFoundError):
        client.post("/no/such/route", cast_to=object, body={})
    with raises(openai.BadRequestError):
        client.chat.completions.create(**story | {"messages": TOO_LONG})
    with raises(openai.AuthenticationError):
        client.with_options(api_key="wrong").chat.completions.create(**story)
print("OpenAI's Python client works")
