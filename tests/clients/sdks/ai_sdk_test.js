// Tests Vercel's AI SDK against `spectr serve`: node ai_sdk_test.js PROGRAM
import assert from "node:assert/strict";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateObject, generateText, jsonSchema, streamText, tool } from "ai";
import { serve } from "../server.js";
import { isWeather, weather } from "./weather.js";

const server = await serve(process.argv[2], "--chat-template", "chatml");
const provider = createOpenAICompatible({ name: "spectr", baseURL: `${server.address}/v1`, supportsStructuredOutputs: true });
const model = provider("any");
const story = { model, prompt: "Once upon a time", temperature: 0, maxOutputTokens: 16, maxRetries: 0 };

try {
  const whole = await generateText(story);
  assert.equal(whole.finishReason, "length");
  assert.equal(whole.usage.outputTokens, 16);

  const stream = streamText(story);
  let streamed = "";
  for await (const part of stream.textStream) streamed += part;
  assert.equal(streamed, whole.text);
  assert.equal(await stream.finishReason, "length");

  const { object } = await generateObject({ ...story, maxOutputTokens: 100, schema: jsonSchema(weather.parameters) });
  assert.ok(isWeather(object), JSON.stringify(object));

  const called = await generateText({
    ...story,
    maxOutputTokens: 100,
    tools: { weather: tool({ description: weather.description, inputSchema: jsonSchema(weather.parameters) }) },
    toolChoice: { type: "tool", toolName: "weather" },
    providerOptions: { spectr: { parallel_tool_calls: false } },
  });
  assert.equal(called.toolCalls[0].toolName, "weather");
  assert.ok(isWeather(called.toolCalls[0].input), JSON.stringify(called.toolCalls));

  await assert.rejects(generateText({ ...story, prompt: " dog".repeat(600) }), (error) => APICallError.isInstance(error) && error.statusCode === 400);
  console.log("the AI SDK works");
} finally {
  await server.stop();
}
