// Tests Anthropic's client against `spectr serve`: node anthropic_test.js PROGRAM
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { serve } from "../server.js";
import { isWeather, weather } from "./weather.js";

const server = await serve(process.argv[2], "--api-key", "secret", "--chat-template", "chatml");
const settings = { baseURL: server.address, apiKey: "secret", maxRetries: 0 };
const client = new Anthropic(settings);
const story = { model: "any", max_tokens: 16, temperature: 0, messages: [{ role: "user", content: "Once upon a time" }] };

try {
  const whole = await client.messages.create(story);
  assert.equal(whole.stop_reason, "max_tokens");
  assert.equal(whole.usage.output_tokens, 16);
  assert.equal(whole.content.length, 1);

  const stream = client.messages.stream(story);
  let streamed = "";
  stream.on("text", (text) => (streamed += text));
  assert.deepEqual((await stream.finalMessage()).content, whole.content);
  assert.equal(streamed, whole.content[0].text);

  const count = await client.messages.countTokens({ model: "any", messages: story.messages });
  assert.equal(count.input_tokens, whole.usage.input_tokens + (whole.usage.cache_read_input_tokens ?? 0));

  const { parameters, ...tool } = weather;
  const called = await client.messages.create({
    ...story,
    max_tokens: 100,
    tools: [{ ...tool, input_schema: parameters }],
    tool_choice: { type: "tool", name: "weather", disable_parallel_tool_use: true },
  });
  assert.equal(called.stop_reason, "tool_use");
  const use = called.content.find((block) => block.type === "tool_use");
  assert.equal(use.name, "weather");
  assert.ok(isWeather(use.input), JSON.stringify(use.input));

  await assert.rejects(client.messages.create({ ...story, messages: [{ role: "user", content: " dog".repeat(600) }] }), Anthropic.BadRequestError);
  await assert.rejects(new Anthropic({ ...settings, apiKey: "wrong" }).messages.create(story), Anthropic.AuthenticationError);
  console.log("Anthropic's client works");
} finally {
  await server.stop();
}
