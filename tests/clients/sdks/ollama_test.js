// Tests Ollama's client against `spectr serve`: node ollama_test.js PROGRAM
import assert from "node:assert/strict";
import { Ollama } from "ollama";
import { serve } from "../server.js";
import { isWeather, weather } from "./weather.js";

const server = await serve(process.argv[2], "--chat-template", "chatml");
const client = new Ollama({ host: server.address });
const options = { temperature: 0, num_predict: 16 };

try {
  const { models } = await client.list();
  assert.equal(models.length, 1);
  const model = models[0].name;

  const whole = await client.generate({ model, prompt: "Once upon a time", options });
  assert.equal(whole.done_reason, "length");
  assert.equal(whole.eval_count, 16);
  let streamed = "";
  for await (const part of await client.generate({ model, prompt: "Once upon a time", options, stream: true })) streamed += part.response;
  assert.equal(streamed, whole.response);

  const messages = [{ role: "user", content: "Once upon a time" }];
  const chat = await client.chat({ model, messages, options });
  assert.equal(chat.message.role, "assistant");
  assert.equal(chat.eval_count, 16);

  const answer = await client.chat({ model, messages, format: weather.parameters, options: { ...options, num_predict: 100 } });
  assert.ok(isWeather(JSON.parse(answer.message.content)), answer.message.content);

  const tools = [{ type: "function", function: weather }];
  const called = await client.chat({ model, messages, tools, options: { ...options, num_predict: 100 } });
  assert.equal(called.message.role, "assistant"); // a model that tells stories need not call
  const told = [{ role: "assistant", content: "", tool_calls: [{ function: { name: "weather", arguments: { city: "Rome", days: 2 } } }] },
    { role: "tool", tool_name: "weather", content: "sunny" }];
  const after = await client.chat({ model, messages: [...messages, ...told], tools, options });
  assert.ok(after.prompt_eval_count > called.prompt_eval_count);

  const endless = await client.generate({ model, prompt: "Once upon a time", options: { temperature: 0, num_predict: 400 }, stream: true });
  await assert.rejects(async () => {
    for await (const part of endless) if (part.response) endless.abort();
  }, { name: "AbortError" });
  const tooLong = [{ role: "user", content: " dog".repeat(600) }];
  await assert.rejects(client.chat({ model, messages: tooLong }), { name: "ResponseError", status_code: 400 });
  console.log("Ollama's client works");
} finally {
  await server.stop();
}
