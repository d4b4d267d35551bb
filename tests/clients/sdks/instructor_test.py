"""Tests Instructor against `spectr serve`: python instructor_test.py PROGRAM"""
import instructor
import openai
from served import STORY, Weather, serve

with serve() as address:
    client = openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)
    for mode, settings in ((instructor.Mode.JSON_SCHEMA, {}), (instructor.Mode.TOOLS, {"parallel_tool_calls": False})):
        answer = instructor.from_openai(client, mode=mode).chat.completions.create(
            model="any", messages=STORY, max_tokens=150, temperature=0, max_retries=0, response_model=Weather, **settings)
        assert isinstance(answer, Weather), (mode, answer)
print("Instructor works")
