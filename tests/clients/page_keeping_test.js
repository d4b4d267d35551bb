// Conversations are kept in the browser: they are listed, renamed, exported, deleted and restored.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { claim, withServer } from "./browser.js";

withServer();

const listOf = (page) => page.getByRole("navigation", { name: "Conversations" }).getByRole("listitem");
const titles = (page) => listOf(page).locator("button.open").allTextContents();

async function saved(page, act) {
  const [download] = await Promise.all([page.waitForEvent("download"), act()]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
}

claim(
  "Conversations outlive the page, newest first, and each keeps what was said in it",
  async (visitor, page) => {
    await visitor.open();
    await visitor.talk("About rain.", "It falls.");
    await visitor.button("New chat").click();
    assert.equal(await visitor.answers.count(), 0);
    await visitor.talk("About\nsnow.", "It is white.");
    assert.deepEqual(await titles(page), ["About snow.", "About rain."]);
    await page.reload();
    await visitor.answers.waitFor();
    assert.match(await visitor.answers.textContent(), /It is white/, "the page opens what was open");
    await visitor.button("About rain.").click();
    await visitor.answers.getByText("It falls.").waitFor();
  },
);

claim("The list has dates, under the periods of the calendar", async (visitor, page) => {
  await page.clock.install({ time: new Date("2024-03-31T12:00:00") });
  await visitor.open();
  const days = ["2024-02-29T23:30:00", "2024-03-27T08:00:00", "2024-03-30T23:59:00", "2024-03-31T00:01:00"];
  for (const [i, day] of days.entries()) {
    await page.clock.setSystemTime(new Date(day));
    await visitor.talk(`Day ${i}.`, "Yes.");
    await visitor.button("New chat").click();
  }
  const list = page.getByRole("navigation", { name: "Conversations" });
  assert.deepEqual(await list.locator("h2").allTextContents(), [
    "Today",
    "Yesterday",
    "Previous 7 days",
    "February 2024",
  ]);
  assert.deepEqual(await list.getByRole("time").allTextContents(), ["00:01", "30 Mar", "27 Mar", "29 Feb"]);
  assert.match(await list.getByRole("time").last().getAttribute("title"), /29 February 2024/);
});

claim("The list is searched by title and by what was said", async (visitor, page) => {
  await visitor.open();
  await visitor.talk("About rain.", "It falls from clouds.");
  await visitor.button("New chat").click();
  await visitor.talk("About snow.", "It is white.");
  const field = page.getByRole("searchbox", { name: "Search conversations" });
  await field.fill("SNOW");
  assert.deepEqual(await titles(page), ["About snow."]);
  await field.fill("clouds");
  await visitor.until(async () => (await titles(page)).join() === "About rain.");
  await visitor.shot("search");
  await field.fill("thunder");
  await page.getByText("No conversation contains “thunder”.").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await field.inputValue(), "");
  assert.deepEqual(await titles(page), ["About snow.", "About rain."]);
});

claim("What is half written stays with its conversation", async (visitor) => {
  await visitor.open();
  await visitor.talk("First.", "Yes.");
  await visitor.field.fill("half a thought");
  await visitor.button("New chat").click();
  assert.equal(await visitor.field.inputValue(), "");
  await visitor.button("First.").click();
  await visitor.until(async () => (await visitor.field.inputValue()) === "half a thought");
});

claim("An answer goes on being written while another conversation is read", async (visitor) => {
  await visitor.open();
  await visitor.talk("Short.", "Yes.");
  await visitor.button("New chat").click();
  const next = visitor.next();
  await visitor.ask("Long.");
  const answer = await next;
  answer.write("Begun, ");
  await visitor.button("Short.").click();
  await visitor.answers.getByText("Yes.").waitFor();
  answer.say("and done.");
  await visitor.button("Long.").click();
  await visitor.answers.getByText("Begun, and done.").waitFor();
});

claim("A conversation is renamed, by keyboard too", async (visitor, page) => {
  await visitor.open();
  await visitor.talk("What is rain?", "Water.");
  await visitor.menu("Rename");
  await page.getByRole("textbox", { name: "Title" }).fill("Weather");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Weather" }).waitFor();
  assert.deepEqual(await titles(page), ["Weather"]);
  await page.locator("header").getByRole("button", { name: "More: Weather" }).focus();
  await page.keyboard.press("Enter");
  await page.locator("[role=menuitem]:focus").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Title" }).fill("Other");
  await page.keyboard.press("Escape");
  assert.deepEqual(await titles(page), ["Weather"]);
});

claim("Deleted and cleared conversations can be had back", async (visitor, page) => {
  await visitor.open();
  await visitor.talk("Keep me.", "Yes.");
  await visitor.menu("Delete");
  await visitor.answers.waitFor({ state: "detached" });
  assert.equal(await listOf(page).count(), 0);
  await visitor.button("Undo").click();
  await visitor.answers.waitFor();
  await visitor.menu("Clear");
  await visitor.answers.waitFor({ state: "detached" });
  await visitor.button("Undo").click();
  await visitor.answers.waitFor();
  await page.reload();
  await visitor.answers.waitFor();
});

claim("An export is taken in again as it was, branches and all", async (visitor, page) => {
  await visitor.open();
  await visitor.talk("A question: is it?", "First answer.");
  const next = visitor.next();
  await visitor.button("Regenerate").click();
  (await next).say("Second answer.");
  await visitor.idle();
  const one = await saved(page, () => visitor.menu("Export as JSON"));
  assert.equal(one.name, "a-question-is-it.json");
  const text = await saved(page, () => visitor.menu("Export as Markdown"));
  assert.equal(text.name, "a-question-is-it.md");
  assert.equal(
    text.text,
    "# A question: is it?\n\n## You\n\nA question: is it?\n\n## Assistant\n\nSecond answer.\n",
  );
  const all = await saved(page, () => visitor.button("Export all").click());
  assert.deepEqual(JSON.parse(all.text).conversations.length, 1);
  await visitor.menu("Delete");
  await page
    .getByLabel("File to import")
    .setInputFiles({ name: one.name, mimeType: "application/json", buffer: Buffer.from(one.text) });
  await visitor.answers.waitFor();
  assert.match(await visitor.answers.textContent(), /Second answer\..*2 of 2/s);
  await visitor.button("Previous version").click();
  assert.match(await visitor.answers.textContent(), /First answer/);
  for (const wrong of [
    "{",
    "[]",
    '{"format": "spectr conversations", "conversations": [{"messages": {"a": {"id": "a", "parent": "a"}}}]}',
  ]) {
    await page
      .getByLabel("File to import")
      .setInputFiles({ name: "wrong.json", mimeType: "application/json", buffer: Buffer.from(wrong) });
    await page
      .getByRole("alert")
      .filter({ hasText: /wrong\.json” (is not JSON|holds no conversations)/ })
      .waitFor();
    await visitor.button("Close").click();
  }
  assert.equal(await listOf(page).count(), 1);
});

claim("Files and edited answers outlive an export", async (visitor, page) => {
  await visitor.open();
  const file = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("some notes") };
  await page.getByLabel("Files to attach").setInputFiles(file);
  await visitor.talk("Read.", "Done.");
  await visitor.answers.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Edit answer" }).fill("Read.");
  await visitor.button("Save").click();
  const { name, text } = await saved(page, () => visitor.menu("Export as JSON"));
  await visitor.menu("Delete");
  await page
    .getByLabel("File to import")
    .setInputFiles({ name, mimeType: "application/json", buffer: Buffer.from(text) });
  await visitor.questions.getByText("notes.txt").click();
  assert.equal(await visitor.questions.locator("pre").textContent(), "some notes");
  assert.match(await visitor.answers.textContent(), /Edited.*2 of 2/s);
});

claim("Two windows show the same list", async (visitor, page) => {
  await visitor.open();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await visitor.talk("Said in one.", "Yes.");
  await other.getByRole("button", { name: "Said in one.", exact: true }).click();
  await other.getByText("Yes.").waitFor();
  await visitor.talk("Said later.", "Seen.");
  await other.getByText("Seen.").waitFor();
});

claim("Where the browser has no room, the page says so and goes on", async (visitor, page) => {
  await page.addInitScript(() => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
  });
  await visitor.open();
  await visitor.talk("Anything.", "Yes.");
  await page.getByRole("alert").filter({ hasText: "no room for this conversation" }).waitFor();
  assert.match(await visitor.answers.textContent(), /Yes/);
});

claim("Where there is room for texts alone, these are kept", async (visitor, page) => {
  await page.addInitScript(() => {
    const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = function (value) {
      const large = Object.values(value.messages ?? {}).some((message) => message.tokens);
      if (large) throw new DOMException("full", "QuotaExceededError");
      return put.call(this, value);
    };
  });
  await visitor.open();
  await visitor.talk("Anything.", "Yes.");
  await page.reload();
  await visitor.answers.waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
});

claim("Where the browser keeps nothing, conversations live as long as the page", async (visitor, page) => {
  await page.addInitScript(() => {
    IDBFactory.prototype.open = () => {
      throw new DOMException("not here", "SecurityError");
    };
    Storage.prototype.getItem = Storage.prototype.setItem = IDBFactory.prototype.open;
  });
  await visitor.open();
  await page.getByText("This browser keeps nothing").waitFor();
  await visitor.talk("One.", "Yes.");
  await visitor.button("New chat").click();
  await visitor.button("One.").click();
  await visitor.answers.getByText("Yes.").waitFor();
});

claim("An answer that was being written when the page was closed says so", async (visitor, page) => {
  await visitor.open();
  const next = visitor.next();
  await visitor.ask("Begin.");
  (await next).write("Half of");
  await visitor.answers.getByText("Half of").waitFor();
  await page.reload();
  await visitor.answers.getByText("The page was closed while this was being written.").waitFor();
  assert.match(await visitor.answers.textContent(), /Half of/);
});
