// Input by people: examples, files, input method keys, thinking, and presets.
import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { claim, phone, startServer, withServer } from "./browser.js";

withServer("-n", "32");

const textFile = (name, text) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
const chosen = (page) => page.getByRole("list", { name: "Attached files" }).getByRole("listitem");
const attach = (page, files) => page.getByLabel("Files to attach").setInputFiles(files);

claim(
  "The start screen names the model and has three examples, which a click sends",
  async (visitor, page) => {
    await visitor.open();
    await visitor.ready();
    const { model } = await page.evaluate(() => fetch("props").then((response) => response.json()));
    assert.match(
      await page.locator("#facts").textContent(),
      new RegExp(`^${model} reads and writes up to \\d+ tokens`),
    );
    const examples = page.getByRole("list", { name: "Examples" }).getByRole("button");
    assert.equal(await examples.count(), 3);
    await visitor.shot("start");
    const text = await examples.nth(1).textContent();
    assert.match(text, /^One day/, "this model has no chat template: it goes on with stories");
    const typed = page.getByRole("textbox", { name: "Message" });
    await typed.fill("not sent yet");
    const next = visitor.next();
    await examples.nth(1).click();
    const answer = await next;
    assert.deepEqual(answer.body.messages, [{ role: "user", content: text }]);
    answer.say("Here.");
    await visitor.idle();
    assert.equal(await examples.count(), 0);
    assert.equal(await typed.inputValue(), "not sent yet");
  },
);

/** Sends an Enter that ends a character composition, as most browsers or as Safari send it. */
const composedEnter = (field, how) =>
  field.evaluate((element, fields) => {
    const event = new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, ...fields });
    element.dispatchEvent(event);
  }, how);

for (const [browser, how] of [
  ["other browsers", { isComposing: true }],
  ["Safari", { keyCode: 229 }],
]) {
  claim(
    `The Enter that ends a composition in ${browser} does nothing in any field`,
    async (visitor, page) => {
      await visitor.open();
      await visitor.ready();
      await visitor.field.fill("日本");
      await composedEnter(visitor.field, how);
      assert.equal(await visitor.questions.count(), 0, "the message is not sent");
      assert.equal(await visitor.field.inputValue(), "日本");
      await visitor.talk("日本語", "はい。");

      await visitor.questions.getByRole("button", { name: "Edit" }).click();
      const edited = page.getByRole("textbox", { name: "Edit message" });
      await edited.fill("日本");
      await composedEnter(edited, how);
      assert.equal(await edited.inputValue(), "日本", "the edited message is not sent");
      await edited.evaluate(
        (field, fields) =>
          field.dispatchEvent(
            new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true, ...fields }),
          ),
        how,
      );
      await visitor.drawn();
      assert.equal(await edited.count(), 1, "the Escape that ends a composition does not end editing");
      await visitor.button("Cancel").click();

      await visitor.answers.getByRole("button", { name: "Edit" }).click();
      const answer = page.getByRole("textbox", { name: "Edit answer" });
      await composedEnter(answer, { ...how, ctrlKey: true });
      await visitor.drawn();
      assert.equal(await answer.count(), 1, "the answer is not saved");
      await visitor.button("Cancel").click();

      await visitor.menu("Rename");
      const title = page.getByRole("textbox", { name: "Title" });
      await title.fill("日");
      await composedEnter(title, how);
      await visitor.drawn();
      assert.equal(await title.inputValue(), "日", "the title is not taken");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "日" }).waitFor();
    },
  );
}

claim("Text files are sent as named blocks before the message, and stay with it", async (visitor, page) => {
  await visitor.open();
  await attach(page, [
    textFile("notes.md", "A fence:\n```\nx\n```\n"),
    textFile("list.txt", "\ufeffone\r\ntwo"),
    textFile("gone.txt", "no"),
  ]);
  await visitor.button("Remove gone.txt").click();
  assert.deepEqual(await chosen(page).locator(".filename").allTextContents(), ["notes.md", "list.txt"]);
  await visitor.shot("files");
  const { messages } = await visitor.talk("What is in these?", "Much.");
  assert.equal(
    messages[0].content,
    "File: notes.md\n\n````md\nA fence:\n```\nx\n```\n````\n\nFile: list.txt\n\n```txt\none\ntwo\n```\n\nWhat is in these?",
  );
  assert.equal(await chosen(page).count(), 0);
  await page.reload();
  await visitor.questions.getByText("notes.md").click();
  assert.match(await visitor.questions.locator("pre:visible").textContent(), /A fence/);
  await visitor.questions.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Edit message" }).fill("And now?");
  const next = visitor.next();
  await page.keyboard.press("Enter");
  const answer = await next;
  assert.match(answer.body.messages[0].content, /^File: notes\.md.*File: list\.txt.*And now\?$/s);
  answer.say("More.");
  await visitor.idle();
});

claim("A file alone can be sent, and gives the conversation its title", async (visitor, page) => {
  await visitor.open();
  await visitor.ready();
  await attach(page, [textFile("poem.txt", "Roses are red")]);
  const next = visitor.next();
  await visitor.button("Send").click();
  const answer = await next;
  assert.equal(answer.body.messages[0].content, "File: poem.txt\n\n```txt\nRoses are red\n```");
  answer.say("Violets are blue.");
  await visitor.idle();
  await page.getByRole("heading", { name: "poem.txt" }).waitFor();
});

claim("In completion mode a file is the beginning of the text, as it stands", async (visitor, page) => {
  await visitor.open();
  await page.getByRole("radio", { name: "Completion" }).check({ force: true });
  await attach(page, [textFile("story.txt", "Once upon a time\n")]);
  const next = visitor.next();
  await visitor.ask("there was");
  const answer = await next;
  assert.equal(answer.body.prompt, "Once upon a time\nthere was");
  answer.say(" a dog.");
  await visitor.idle();
});

claim(
  "Binary files and images are refused in a clear sentence, and the others are taken",
  async (visitor, page) => {
    await visitor.open();
    const refused = {
      "cat.png": [
        "image/png",
        Buffer.from([0x89, 0x50]),
        "“cat.png” is an image. Only text files can be attached.",
      ],
      "photo.raw": [
        "",
        Buffer.from([0, 0, 0, 0x18]),
        "“photo.raw” is a binary file. Only text files can be attached.",
      ],
      "latin.txt": [
        "text/plain",
        Buffer.from([0x4d, 0xfc]),
        "“latin.txt” is a binary file. Only text files can be attached.",
      ],
      "paper.pdf": [
        "application/pdf",
        Buffer.from("%PDF-1.7 text"),
        "“paper.pdf” is a binary file. Only text files can be attached.",
      ],
      "nothing.txt": ["text/plain", Buffer.from(" \n"), "“nothing.txt” is empty."],
      "large.log": [
        "text/plain",
        Buffer.alloc(2_000_000, "x"),
        "“large.log” has 2.0 MB. Files of up to 1 MB can be attached.",
      ],
    };
    for (const [name, [mimeType, buffer, sentence]] of Object.entries(refused)) {
      await attach(page, [{ name, mimeType, buffer }]);
      assert.equal(await page.getByRole("alert").locator("span").textContent(), sentence);
      await visitor.button("Close").click();
    }
    await attach(page, [
      { name: "cat.png", mimeType: "image/png", buffer: Buffer.from("x") },
      textFile("ok.txt", "fine"),
    ]);
    await page.getByRole("alert").getByText("“cat.png” is an image.").waitFor();
    assert.deepEqual(await chosen(page).locator(".filename").allTextContents(), ["ok.txt"]);
  },
);

claim("UTF-16 with a byte order mark is text", async (visitor, page) => {
  await visitor.open();
  await attach(page, [
    { name: "wide.txt", mimeType: "text/plain", buffer: Buffer.from("\ufeffGrüße", "utf16le") },
  ]);
  await chosen(page).waitFor();
  const { messages } = await visitor.talk("Read.", "Yes.");
  assert.match(messages[0].content, /\nGrüße\n/);
});

/** Drops or pastes files at `locator`. */
const transfer = (locator, type, files, text) =>
  locator.evaluate(
    (element, [kind, contents, words]) => {
      const data = new DataTransfer();
      for (const [name, mime, body] of contents) data.items.add(new File([body], name, { type: mime }));
      if (words) data.setData("text/plain", words);
      const fields = { bubbles: true, cancelable: true };
      const event =
        kind === "paste"
          ? new ClipboardEvent(kind, { ...fields, clipboardData: data })
          : new DragEvent(kind, { ...fields, dataTransfer: data });
      return !element.dispatchEvent(event);
    },
    [type, files, text],
  );

claim("Files are attached by dropping them anywhere, and by pasting them", async (visitor, page) => {
  await visitor.open();
  const dropped = [["dropped.txt", "text/plain", "from a folder"]];
  const list = page.getByRole("navigation", { name: "Conversations" });
  assert.ok(await transfer(list, "dragover", dropped));
  await page.getByText("Drop text files to attach them").waitFor();
  assert.ok(await transfer(list, "drop", dropped), "the browser does not open the file");
  await chosen(page).getByText("dropped.txt").waitFor();
  assert.equal(await page.getByText("Drop text files").count(), 0);
  assert.ok(await transfer(visitor.field, "paste", [["pasted.csv", "text/csv", "a,b"]]));
  await chosen(page).getByText("pasted.csv").waitFor();
});

claim("Text that is pasted with a picture of itself is pasted as text", async (visitor, page) => {
  await visitor.open();
  const picture = [["image.png", "image/png", "x"]];
  assert.ok(!(await transfer(visitor.field, "paste", picture, "cells")), "the browser pastes the text");
  assert.ok(await transfer(visitor.field, "paste", picture));
  await page.getByRole("alert").getByText("“image.png” is an image.").waitFor();
});

claim("Files that wait stay with their conversation", async (visitor, page) => {
  await visitor.open();
  await visitor.talk("First.", "Yes.");
  await attach(page, [textFile("later.txt", "for later")]);
  await chosen(page).waitFor();
  await visitor.button("New chat").click();
  assert.equal(await chosen(page).count(), 0);
  await visitor.button("First.").click();
  await chosen(page).getByText("later.txt").waitFor();
});

const withSwitch =
  "{% for m in messages %}{{ m.content }}{% endfor %}{% if enable_thinking %}<think>{% endif %}";

claim("Thinking is switched on and off where the chat template has a switch", async (visitor, page) => {
  const file = join(await mkdtemp(join(tmpdir(), "spectr-")), "template.jinja");
  await writeFile(file, withSwitch);
  const server = await startServer("--chat-template-file", file, "-n", "8");
  const asked = async () => {
    const [request] = await Promise.all([page.waitForRequest("**/completions"), visitor.ask("Think.")]);
    await visitor.idle();
    return request.postDataJSON().chat_template_kwargs;
  };
  try {
    await visitor.open(server.address);
    assert.equal(await asked(), undefined, "as the model does");
    await visitor.button("Thinking: auto").click();
    assert.deepEqual(await asked(), { enable_thinking: false });
    await visitor.button("Thinking: off").click();
    assert.deepEqual(await asked(), { enable_thinking: true });
    await visitor.button("Settings").click();
    const choice = page.getByLabel("Thinking", { exact: true });
    assert.equal(await choice.inputValue(), "on");
    await page.getByLabel("Chat template variables").fill('{"name": "Ada", "enable_thinking": false}');
    assert.equal(await choice.inputValue(), "off", "one truth");
    await choice.selectOption("As the model does");
    assert.deepEqual(await asked(), { name: "Ada" });
    await visitor.button("Thinking: auto").click();
    assert.equal(await choice.inputValue(), "off");
  } finally {
    await server.stop();
  }
});

claim("A switch called thinking is one, too", async (visitor, page) => {
  const file = join(await mkdtemp(join(tmpdir(), "spectr-")), "template.jinja");
  await writeFile(file, withSwitch.replace("enable_thinking", "thinking"));
  const server = await startServer("--chat-template-file", file, "-n", "8");
  try {
    await visitor.open(server.address);
    await visitor.button("Thinking: auto").click();
    const [request] = await Promise.all([page.waitForRequest("**/completions"), visitor.ask("Think.")]);
    assert.deepEqual(request.postDataJSON().chat_template_kwargs, { thinking: false });
    await visitor.idle();
  } finally {
    await server.stop();
  }
});

claim("A chat template without a switch for thinking is said to have none", async (visitor, page) => {
  await visitor.open();
  await visitor.ready();
  assert.equal(await page.getByRole("button", { name: /^Thinking/ }).count(), 0);
  await visitor.button("Settings").click();
  assert.ok(await page.getByLabel("Thinking", { exact: true }).isDisabled());
  await page.getByText("This model has no switch for thinking.").waitFor();
});

claim(
  "Presets are chosen, saved and deleted, and say which settings hold",
  { ...phone },
  async (visitor, page) => {
    await visitor.open();
    await visitor.ready();
    await visitor.button("Settings").tap();
    const preset = page.getByLabel("Preset", { exact: true });
    const shown = () => preset.evaluate((one) => one.selectedOptions[0].textContent);
    assert.equal(await shown(), "Server defaults");
    await preset.selectOption("Creative");
    assert.equal(await page.getByRole("spinbutton", { name: "Temperature" }).inputValue(), "1.2");
    await page.getByRole("spinbutton", { name: "Temperature" }).fill("1.5");
    assert.equal(await shown(), "Custom");
    await page.getByLabel("System prompt").fill("Rhyme.");
    await visitor.button("Save as preset").tap();
    await page.getByLabel("Name of the preset").fill("Creative");
    await visitor.button("Save").tap();
    await page.getByText("“Creative” is built in.").waitFor();
    await page.getByLabel("Name of the preset").fill("Poet");
    await page.keyboard.press("Enter");
    assert.equal(await shown(), "Poet");
    await preset.selectOption("Server defaults");
    assert.equal(await page.getByLabel("System prompt").inputValue(), "Rhyme.", "built-in presets leave it");
    await page.getByLabel("System prompt").fill("");
    await page.reload();
    await visitor.ready();
    await visitor.button("Settings").tap();
    await preset.selectOption("Poet");
    await visitor.button("Close settings").tap();
    const { messages, temperature, min_p } = await visitor.talk("Sing.", "La.");
    assert.deepEqual(messages[0], { role: "system", content: "Rhyme." });
    assert.deepEqual([temperature, min_p], [1.5, 0.05]);
    await visitor.button("Settings").tap();
    await visitor.button("Delete preset").tap();
    assert.equal(await shown(), "Custom");
    await visitor.button("Undo").tap();
    assert.equal(await shown(), "Poet");
  },
);
