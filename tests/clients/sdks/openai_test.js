// Tests the official OpenAI client against `spectr serve`: node openai_test.js PROGRAM
import assert from "node:assert/strict";
import OpenAI from "openai";
import { serve } from "../server.js";

const server = await serve(process.argv[2], "--api-key", "secret", "-np", "2");
const client = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: "secret", maxRetries: 0 });
const story = { model: "any", prompt: "Once upon a time", max_tokens: 16, seed: 7 };
const talk = { model: "any", messages: [{ role: "user", content: "Once upon a time" }], max_tokens: 16, seed: 7 };

try {
  const completion = await client.completions.create(story);
  assert.equal(completion.choices[0].finish_reason, "length");
  assert.equal(completion.usage.completion_tokens, 16);

  const chat = await client.chat.completions.create(talk);
  assert.equal(chat.choices[0].message.content, completion.choices[0].text);

  let streamed = "";
  let usage = null;
  for await (const chunk of await client.chat.completions.create({ ...talk, stream: true, stream_options: { include_usage: true } })) {
    streamed += chunk.choices[0]?.delta?.content ?? "";
    usage = chunk.usage ?? usage;
  }
  assert.equal(streamed, chat.choices[0].message.content);
  assert.equal(usage.completion_tokens, 16);

  const told = await client.chat.completions.create({ ...talk, logprobs: true, top_logprobs: 2 });
  assert.equal(told.choices[0].logprobs.content.length, 16);

  const endless = await client.completions.create({ ...story, max_tokens: 480, stream: true, ignore_eos: true });
  for await (const chunk of endless) {
    if (chunk.choices[0].text) endless.controller.abort();
  }

  const models = await client.models.list();
  assert.equal(models.data.length, 1);
  await assert.rejects(client.chat.completions.create({ ...talk, tools: [{ type: "function", function: {} }] }), OpenAI.BadRequestError);
  await assert.rejects(client.completions.create({ ...story, prompt: " dog".repeat(600) }), OpenAI.BadRequestError);
  await assert.rejects(new OpenAI({ baseURL: `${server.address}/v1`, apiKey: "wrong", maxRetries: 0 }).completions.create(story), OpenAI.AuthenticationError);
  console.log("the OpenAI client works");
} finally {
  await server.stop();
}
