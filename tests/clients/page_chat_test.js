// The page as a chat: writing, reading, and editing messages.
import assert from "node:assert/strict";
import { claim, withServer } from "./browser.js";

withServer("-n", "64");

claim(
  "Enter sends, Shift+Enter starts a line, and an input method keeps its Enter",
  async (visitor, page) => {
    await visitor.open();
    assert.ok(await visitor.button("Send").isDisabled(), "nothing to send");
    const next = visitor.next();
    await visitor.field.pressSequentially("one");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("two");
    await visitor.field.evaluate((field) =>
      field.dispatchEvent(
        new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true }),
      ),
    );
    assert.equal(await visitor.questions.count(), 0);
    await page.keyboard.press("Enter");
    const answer = await next;
    assert.deepEqual(answer.body.messages, [{ role: "user", content: "one\ntwo" }]);
    answer.say("Yes.");
    await visitor.idle();
    assert.equal(await visitor.field.inputValue(), "");
    assert.ok(
      await visitor.field.evaluate((field) => field === document.activeElement),
      "one can go on writing",
    );
    assert.match(await visitor.answers.textContent(), /Yes\./);
  },
);

claim("A conversation with the real server goes on", async (visitor) => {
  await visitor.open();
  for (const text of ["Tom had a red ball.", "Then a dog came."]) {
    await visitor.ask(text);
    await visitor.idle();
  }
  assert.equal(await visitor.questions.count(), 2);
  assert.equal(await visitor.answers.count(), 2);
  assert.match(
    await visitor.page.getByRole("meter", { name: "Context used" }).getAttribute("aria-valuetext"),
    /^\d+ of \d+ tokens$/,
  );
});

const marked = `# Title

Some *words* and \`code\`, <b>bold</b> and <script>window.broken = 1</script>.

- one
- two

| a | b |
|---|--:|
| 1 | 2 |

\`\`\`python
def twice(x):
    return 2 * x
\`\`\`

[good](https://example.com/) [bad](javascript:window.broken=1) ![picture](https://example.com/p.png)
<img src="https://example.com/q.png" onerror="window.broken = 1">`;

claim(
  "Markdown is shown, code is copied, and a model's HTML is text that loads and runs nothing",
  async (visitor, page) => {
    await visitor.open();
    await visitor.talk("Show me.", marked);
    const answer = visitor.answers.first();
    assert.equal(await answer.getByRole("heading", { name: "Title" }).count(), 1);
    assert.equal(await answer.getByRole("listitem").count(), 2);
    assert.equal(await answer.getByRole("cell", { name: "2" }).getAttribute("align"), "right");
    assert.equal(await answer.locator("pre code .hljs-keyword").first().textContent(), "def");
    assert.match(await answer.textContent(), /<b>bold<\/b> and <script>window\.broken = 1<\/script>/);
    assert.equal(await answer.locator("img, script, b, [onerror]").count(), 0);
    assert.deepEqual(
      await answer
        .getByRole("link")
        .evaluateAll((links) => links.map((link) => [link.textContent, link.getAttribute("href"), link.rel])),
      [
        ["good", "https://example.com/", "noopener noreferrer"],
        ["picture", "https://example.com/p.png", "noopener noreferrer"],
      ],
    );
    assert.equal(await page.evaluate(() => window.broken), undefined);
    await answer.getByRole("button", { name: "Copy code" }).click();
    assert.equal(
      await page.evaluate(() => navigator.clipboard.readText()),
      "def twice(x):\n    return 2 * x",
    );
    await answer.getByRole("button", { name: "Copy", exact: true }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), marked);
    await visitor.shot("markdown");
  },
);

claim("An answer that is written again stands beside the old one", async (visitor, page) => {
  await visitor.open();
  await visitor.talk("Tell me a number.", "One.");
  const next = visitor.next();
  await visitor.button("Regenerate").click();
  const again = await next;
  assert.equal(again.body.messages.length, 1);
  again.say("Two.");
  await visitor.idle();
  assert.match(await visitor.answers.textContent(), /Two\..*2 of 2/s);
  await visitor.button("Previous version").click();
  assert.match(await visitor.answers.textContent(), /One\..*1 of 2/s);
  const sent = await visitor.talk("And then?", "Three.");
  assert.deepEqual(
    sent.messages.map((one) => one.content),
    ["Tell me a number.", "One.", "And then?"],
    "what is shown is sent",
  );
  assert.ok(await page.locator(".branches button").first().isVisible());
});

claim("A message that was sent can be edited; the old branch stays", async (visitor, page) => {
  await visitor.open();
  await visitor.talk("Say red.", "Red.");
  await visitor.talk("Once more.", "Red again.");
  await visitor.questions.first().hover();
  await visitor.questions.first().getByRole("button", { name: "Edit" }).click();
  const field = page.getByRole("textbox", { name: "Edit message" });
  assert.equal(await field.inputValue(), "Say red.");
  await page.keyboard.press("Escape");
  assert.equal(await field.count(), 0);
  await visitor.questions.first().getByRole("button", { name: "Edit" }).click();
  await field.fill("Say blue.");
  const next = visitor.next();
  await page.keyboard.press("Enter");
  const answer = await next;
  assert.deepEqual(answer.body.messages, [{ role: "user", content: "Say blue." }]);
  answer.say("Blue.");
  await visitor.idle();
  assert.equal(await visitor.answers.count(), 1);
  await visitor.questions.first().getByRole("button", { name: "Previous version" }).click();
  assert.equal(await visitor.answers.count(), 2);
  assert.match(await visitor.answers.last().textContent(), /Red again/);
});

claim(
  "An answer can be edited; the old one stays, and the new one can be continued",
  async (visitor, page) => {
    await visitor.open();
    await visitor.talk("Say red.", "<think>Which?</think>\n\nBlue.");
    await visitor.answers.getByRole("button", { name: "Edit" }).click();
    const field = page.getByRole("textbox", { name: "Edit answer" });
    assert.equal(await field.inputValue(), "Blue.");
    await field.fill("Red");
    await page.keyboard.press("Enter");
    await page.keyboard.type("is");
    await page.keyboard.press("Control+Enter");
    assert.match(await visitor.answers.textContent(), /Red\s*is.*Edited.*2 of 2/s);
    const next = visitor.next();
    await visitor.button("Continue").click();
    const answer = await next;
    assert.deepEqual(answer.body.messages.at(-1), {
      role: "assistant",
      content: "Red\nis",
      reasoning_content: "Which?",
    });
    answer.writeTokens(" a", " colour.");
    answer.end();
    await visitor.idle();
    await visitor.button("Drafting").click();
    assert.match(await visitor.answers.textContent(), /Red\s*is a colour\./, "all of it is shown");
    const { messages } = await visitor.talk("Thanks.", "Welcome.");
    assert.equal(messages[1].content, "Red\nis a colour.");
    await visitor.answers.first().hover();
    await visitor.answers.first().getByRole("button", { name: "Previous version" }).click();
    assert.match(await visitor.answers.textContent(), /Blue\./);
  },
);

claim("A deleted message goes with what follows it, and can be had back", async (visitor, page) => {
  await visitor.open();
  await visitor.talk("One?", "One.");
  await visitor.talk("Two?", "Two.");
  await visitor.questions.last().hover();
  await visitor.questions.last().getByRole("button", { name: "Delete" }).click();
  assert.equal(await visitor.answers.count(), 1);
  await page.getByRole("alert").getByText("The message and 1 after it are deleted.").waitFor();
  await visitor.button("Undo").click();
  assert.equal(await visitor.answers.count(), 2);
  await visitor.answers.last().getByRole("button", { name: "Delete" }).click();
  assert.equal(await visitor.answers.count(), 1);
  await page.reload();
  await visitor.ready();
  assert.equal(await visitor.questions.count(), 2);
  assert.equal(await visitor.answers.count(), 1);
  const next = visitor.next();
  await visitor.questions.last().getByRole("button", { name: "Answer" }).click();
  const answer = await next;
  assert.deepEqual(
    answer.body.messages.map((one) => one.content),
    ["One?", "One.", "Two?"],
  );
  answer.say("Two again.");
  await visitor.idle();
  await visitor.answers.last().getByRole("button", { name: "Delete" }).click();
  const { messages } = await visitor.talk("And three?", "Three.");
  assert.deepEqual(
    messages.map((one) => [one.role, one.content]),
    [
      ["user", "One?"],
      ["assistant", "One."],
      ["user", "Two?\n\nAnd three?"],
    ],
    "turns alternate",
  );
});

claim(
  "A deleted version gives way to the one beside it, and the last message to the start",
  async (visitor, page) => {
    await visitor.open();
    await visitor.talk("A number.", "One.");
    const next = visitor.next();
    await visitor.button("Regenerate").click();
    (await next).say("Two.");
    await visitor.idle();
    await visitor.answers.getByRole("button", { name: "Delete" }).click();
    assert.match(await visitor.answers.textContent(), /^One\./);
    await visitor.questions.hover();
    await visitor.questions.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("list", { name: "Examples" }).waitFor();
    const listed = page.getByRole("navigation").getByRole("listitem");
    await visitor.until(async () => (await listed.count()) === 0);
    await visitor.button("Undo").click();
    assert.match(await visitor.answers.textContent(), /^One\./);
  },
);

claim("Nothing is deleted or edited while an answer is being written", async (visitor) => {
  await visitor.open();
  const next = visitor.next();
  await visitor.ask("Write.");
  const answer = await next;
  answer.write("Some");
  for (const name of ["Edit", "Delete"])
    assert.ok(await visitor.questions.getByRole("button", { name }).isDisabled());
  answer.say(" words.");
  await visitor.idle();
});

claim("Settings are sent as they were chosen, and nothing that was not", async (visitor, page) => {
  await visitor.open();
  assert.deepEqual(Object.keys(await visitor.talk("Plain.", "Yes.")).sort(), [
    "messages",
    "return_progress",
    "stream",
    "stream_options",
    "token_details",
  ]);
  await visitor.button("Settings").click();
  await page.getByLabel("System prompt").fill("Be brief.");
  await page.getByRole("slider", { name: "Temperature" }).fill("0.5");
  await page.getByText("Penalties and biases").click();
  const numbers = {
    "Top-p": 0.8,
    "Min-p": 0.1,
    "Top-k": 20,
    "Repeat penalty": 1.1,
    "Repeat last N": 32,
    "Presence penalty": 0.2,
    "Frequency penalty": 0.3,
    Seed: 7,
    "Max tokens": 12,
  };
  for (const [name, value] of Object.entries(numbers)) {
    await page.getByRole("spinbutton", { name, exact: true }).pressSequentially(String(value));
  }
  await page.getByLabel("Stop words").fill("END\n\\n\\n");
  await page.getByLabel("Ignore the end of text (EOS)").check();
  await page.getByLabel("Logit bias").fill('{"7": -1}');
  await page.getByLabel("Chat template variables").fill('{"enable_thinking": false}');
  const { messages, return_progress, stream, stream_options, token_details, ...fields } = await visitor.talk(
    "Again.",
    "Yes.",
  );
  assert.deepEqual(messages[0], { role: "system", content: "Be brief." });
  assert.deepEqual(fields, {
    temperature: 0.5,
    top_p: 0.8,
    min_p: 0.1,
    top_k: 20,
    repeat_penalty: 1.1,
    repeat_last_n: 32,
    presence_penalty: 0.2,
    frequency_penalty: 0.3,
    seed: 7,
    max_tokens: 12,
    stop: ["END", "\n\n"],
    ignore_eos: true,
    logit_bias: { 7: -1 },
    chat_template_kwargs: { enable_thinking: false },
  });
  await visitor.shot("settings");
  await page.getByLabel("Logit bias").fill("{");
  await visitor.ask("Wrong.");
  assert.match(await page.getByRole("alert").textContent(), /Logit bias.*not a JSON object/s);
  await visitor.button("Reset sampling and length").click();
  const next = visitor.next();
  await visitor.button("Try again").click();
  const answer = await next;
  assert.equal(answer.body.temperature, undefined);
  answer.say("Now.");
  await visitor.idle();
});

claim("Max tokens go up to the context, whatever it is", async (visitor, page) => {
  await visitor.open();
  await visitor.button("Settings").click();
  const { n_ctx } = await page.evaluate(() => fetch("props").then((response) => response.json()));
  assert.equal(await page.getByRole("slider", { name: "Max tokens" }).getAttribute("max"), String(n_ctx));
  assert.equal(
    await page.getByRole("spinbutton", { name: "Max tokens" }).getAttribute("placeholder"),
    "64",
    "as the server was started",
  );
});

claim("What a model thinks is folded away, and sent back apart from what it says", async (visitor, page) => {
  await visitor.open();
  const next = visitor.next();
  await visitor.ask("Think.");
  const answer = await next;
  answer.write("", { reasoning_content: "Let me see." });
  await page.getByText("Thinking…").waitFor();
  answer.say("Forty-two.");
  await visitor.idle();
  const thought = visitor.answers.getByText("Let me see.");
  assert.ok(!(await thought.isVisible()));
  await visitor.answers.getByText("Reasoning").click();
  assert.ok(await thought.isVisible());
  await visitor.talk("Again.", "<think>Once more.</think>\n\nForty-three.");
  assert.ok(!(await visitor.answers.last().getByText("Once more.").isVisible()));
  const { messages } = await visitor.talk("Last.", "Yes.");
  assert.deepEqual(
    messages.filter((one) => one.role === "assistant"),
    [
      { role: "assistant", content: "Forty-two.", reasoning_content: "Let me see." },
      { role: "assistant", content: "Forty-three.", reasoning_content: "Once more." },
    ],
  );
});

claim("An answer that was cut off can be continued", async (visitor) => {
  await visitor.open();
  await visitor.talk("Count.", "One, two,", "length");
  assert.match(await visitor.answers.textContent(), /Stopped at max tokens/);
  const next = visitor.next();
  await visitor.button("Continue").click();
  const answer = await next;
  assert.deepEqual(answer.body.messages.at(-1), { role: "assistant", content: "One, two," });
  answer.say(" three.");
  await visitor.idle();
  assert.match(await visitor.answers.textContent(), /One, two, three\./);
});

claim("A completion goes on with the text as it stands", async (visitor, page) => {
  await visitor.open();
  await page.getByRole("radio", { name: "Completion" }).check({ force: true });
  const [request] = await Promise.all([
    page.waitForRequest("**/v1/completions"),
    visitor.ask("Once upon a time"),
  ]);
  assert.equal(request.postDataJSON().prompt, "Once upon a time");
  await visitor.idle();
  assert.match(await visitor.answers.textContent(), /\w+/);
});
