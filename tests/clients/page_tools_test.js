// Calls of tools, their results, and answers in JSON.
import assert from "node:assert/strict";
import { claim, withServer } from "./browser.js";

withServer("-n", "48");

const tools = [
  { type: "function", function: { name: "weather", parameters: { type: "object" } } },
  { type: "function", function: { name: "clock" } },
];

/** Enters a field of the settings, and closes them. */
async function set(visitor, page, label, text) {
  await visitor.button("Settings").click();
  await page.getByText("Format and tools").click();
  await page.getByLabel(label, { exact: true }).fill(text);
  await visitor.button("Close settings").click();
}

const resultsOf = (page) => page.getByRole("article", { name: "Tools" });

/** Has a question answered by two calls of tools. Returns the body of the request. */
async function callBoth(visitor) {
  const next = visitor.next();
  await visitor.ask("Is it warm?");
  const answer = await next;
  answer.call({ index: 0, id: "a1", type: "function", function: { name: "weather", arguments: '{"city"' } });
  answer.call({ index: 0, function: { arguments: ': "Oslo", "days":[1]}' } });
  answer.call({ index: 1, id: "a2", type: "function", function: { name: "clock", arguments: "{}" } });
  answer.end("tool_calls");
  await visitor.idle();
  return answer.body;
}

/** Enters the results of both calls, and has them answered. Returns the body of the request. */
async function sendBoth(visitor, page, weather, answered) {
  await page.getByLabel("Result of weather").fill(weather);
  await page.getByLabel("Result of clock").fill("noon");
  const next = visitor.next();
  await visitor.button("Send results").click();
  const answer = await next;
  answer.say(answered);
  await visitor.idle();
  return answer.body;
}

const calls = [
  { id: "a1", type: "function", function: { name: "weather", arguments: '{"city": "Oslo", "days":[1]}' } },
  { id: "a2", type: "function", function: { name: "clock", arguments: "{}" } },
];
const weather = '{"degrees":30}';

claim("Calls and results are folded, and are sent with what follows", async (visitor, page) => {
  await visitor.open();
  await set(visitor, page, "Tools", JSON.stringify(tools));
  assert.deepEqual((await callBoth(visitor)).tools, tools);
  const shown = visitor.answers.getByLabel("Arguments of weather");
  assert.ok(!(await shown.isVisible()));
  await visitor.answers.getByText("Call of weather").click();
  assert.equal(await shown.textContent(), '{\n  "city": "Oslo",\n  "days": [\n    1\n  ]\n}');
  assert.equal(await visitor.button("Continue").count(), 0);
  assert.equal(await page.getByText("The answer is empty").count(), 0);
  await visitor.shot("tools");
  const { messages } = await sendBoth(visitor, page, weather, "It is warm.");
  const sent = [
    { role: "user", content: "Is it warm?" },
    { role: "assistant", content: "", tool_calls: calls },
    { role: "tool", tool_call_id: "a1", content: weather },
    { role: "tool", tool_call_id: "a2", content: "noon" },
  ];
  assert.deepEqual(messages, sent);
  assert.equal(await visitor.button("Send results").count(), 0);
  const result = page.getByLabel("Text of weather");
  assert.ok(!(await result.isVisible()));
  await resultsOf(page).getByText("Result of weather").click();
  assert.equal(await result.textContent(), '{\n  "degrees": 30\n}');
  const last = await visitor.talk("Thanks.", "Gladly.");
  assert.deepEqual(last.messages.slice(0, 4), sent);
  await page.reload();
  await visitor.answers.getByText("Call of weather").waitFor();
  await resultsOf(page).getByText("Result of clock").waitFor();
});

claim("Results can be deleted and entered anew, and outlive an error", async (visitor, page) => {
  await visitor.open();
  await callBoth(visitor);
  await sendBoth(visitor, page, "cold", "It is cold.");
  await resultsOf(page).getByRole("button", { name: "Delete" }).click();
  await page.getByLabel("Result of weather").fill("warm");
  let next = visitor.next();
  await visitor.button("Send results").click();
  (await next).refuse(429, "too many requests wait");
  await visitor.answers.getByText("too many requests wait").waitFor();
  const { messages } = await visitor.talk("And now?", "Warm.");
  assert.deepEqual(
    messages.map(({ role, content }) => [role, content]),
    [
      ["user", "Is it warm?"],
      ["assistant", ""],
      ["tool", "warm"],
      ["tool", ""],
      ["user", "And now?"],
    ],
  );
  visitor.forgive(/429/);
});

claim("Calls and results outlive an export", async (visitor, page) => {
  await visitor.open();
  await callBoth(visitor);
  await sendBoth(visitor, page, weather, "It is warm.");
  const saved = async (choice) => {
    const [file] = await Promise.all([page.waitForEvent("download"), visitor.menu(choice)]);
    const parts = [];
    for await (const part of await file.createReadStream()) parts.push(part);
    return Buffer.concat(parts);
  };
  const text = String(await saved("Export as Markdown"));
  assert.match(text, /## Assistant\n\nCall of weather:\n\n```\n\{\n {2}"city": "Oslo",/);
  assert.match(text, /## Tools\n\nResult of weather:\n\n```\n\{\n {2}"degrees": 30\n\}\n```/);
  const buffer = await saved("Export as JSON");
  await visitor.menu("Delete");
  await page
    .getByLabel("File to import")
    .setInputFiles({ name: "a.json", mimeType: "application/json", buffer });
  const { messages } = await visitor.talk("Thanks.", "Gladly.");
  assert.deepEqual(messages[1].tool_calls, calls);
  assert.deepEqual(messages[2], { role: "tool", tool_call_id: "a1", content: weather });
});

claim("Tools that are no list are named before anything is sent", async (visitor, page) => {
  await visitor.open();
  await set(visitor, page, "Tools", "{}");
  await visitor.ask("Hello.");
  await visitor.answers.getByText("“Tools” in the settings is not a JSON list.").waitFor();
  await visitor.answers.getByRole("button", { name: "Settings" }).click();
  await page.getByText("Format and tools").click();
  await page.getByText("This is not a JSON list.").waitFor();
});

claim("An answer in JSON is indented, and its values are as they were written", async (visitor, page) => {
  await visitor.open();
  const json = '{"id":12345678901234567890, "b":[], "a":{"c": "x, {\\"y\\"}: [z]"},"n":[1.0,null]}';
  await visitor.talk("Describe it.", json);
  const shown = visitor.answers.locator("pre code");
  assert.equal(
    await shown.textContent(),
    '{\n  "id": 12345678901234567890,\n  "b": [],\n  "a": {\n    "c": "x, {\\"y\\"}: [z]"\n  },\n' +
      '  "n": [\n    1.0,\n    null\n  ]\n}',
  );
  await visitor.answers.getByRole("button", { name: "Copy", exact: true }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), json);
  await visitor.shot("json");
  for (const text of ["[1] is *cited*.", "[a link](https://example.com/)", '{"open": *', "7", '"*quoted*"']) {
    await visitor.talk("Again.", text);
    assert.equal(await visitor.answers.last().locator("pre").count(), 0, text);
  }
});

claim("A format is asked of the real server, and its JSON is indented", async (visitor, page) => {
  const schema = {
    type: "object",
    properties: { warm: { type: "boolean" } },
    required: ["warm"],
    additionalProperties: false,
  };
  const format = { type: "json_schema", json_schema: { name: "weather", schema } };
  await visitor.open();
  await set(visitor, page, "Response format", JSON.stringify(format));
  await visitor.ask("Is it warm?");
  await visitor.idle();
  assert.match(
    await visitor.answers.locator("pre code").textContent(),
    /^\{\n {2}"warm": (?:true|false)\n\}$/,
  );
});
