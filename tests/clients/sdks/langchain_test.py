"""Tests LangChain's Python package against `spectr serve`: python langchain_test.py PROGRAM"""
import openai
from langchain_openai import ChatOpenAI
from served import STORY, TOO_LONG, Weather, raises, serve

with serve() as address:
    def chat(max_tokens):
        return ChatOpenAI(model="any", base_url=f"{address}/v1", api_key="none", temperature=0, max_tokens=max_tokens,
                          max_retries=0)

    whole = chat(16).invoke(STORY)
    assert whole.response_metadata["finish_reason"] == "length" and whole.usage_metadata["output_tokens"] == 16, whole
    assert "".join(part.content for part in chat(16).stream(STORY)) == whole.content

    answer = chat(100).with_structured_output(Weather, method="json_schema").invoke(STORY)
    assert isinstance(answer, Weather), answer
    called = chat(150).bind_tools([Weather], tool_choice="Weather", parallel_tool_calls=False).invoke(STORY)
    Weather.model_validate(called.tool_calls[0]["args"])

    with raises(openai.BadRequestError):
        chat(16).invoke(TOO_LONG)
print("LangChain's Python package works")
