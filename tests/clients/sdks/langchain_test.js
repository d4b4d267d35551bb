// Tests LangChain against `spectr serve`: node langchain_test.js PROGRAM
import assert from "node:assert/strict";
import { ChatOpenAI } from "@langchain/openai";
import { serve } from "../server.js";
import { isWeather, weather } from "./weather.js";

const server = await serve(process.argv[2], "--chat-template", "chatml");
const chat = (maxTokens) =>
  new ChatOpenAI({ model: "any", apiKey: "none", temperature: 0, maxTokens, maxRetries: 0, configuration: { baseURL: `${server.address}/v1` } });
const prompt = "Once upon a time";

try {
  const whole = await chat(16).invoke(prompt);
  assert.equal(whole.response_metadata.finish_reason, "length");
  assert.equal(whole.usage_metadata.output_tokens, 16);

  let streamed = "";
  for await (const part of await chat(16).stream(prompt)) streamed += part.content;
  assert.equal(streamed, whole.content);

  const object = await chat(100).withStructuredOutput(weather.parameters, { name: "weather", method: "jsonSchema" }).invoke(prompt);
  assert.ok(isWeather(object), JSON.stringify(object));

  const called = await chat(100)
    .bindTools([{ type: "function", function: weather }], { tool_choice: "weather", parallel_tool_calls: false })
    .invoke(prompt);
  assert.equal(called.tool_calls[0].name, "weather");
  assert.ok(isWeather(called.tool_calls[0].args), JSON.stringify(called.tool_calls));

  await assert.rejects(chat(16).invoke(" dog".repeat(600)), { status: 400 });
  console.log("LangChain works");
} finally {
  await server.stop();
}
