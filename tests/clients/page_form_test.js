// The page's appearance and accessibility: phones, dark mode, screen readers, keyboards.
import assert from "node:assert/strict";
import { claim, phone, violations, withServer } from "./browser.js";

withServer("-n", "48");

const widgets = [
  "button",
  "textbox",
  "slider",
  "spinbutton",
  "radio",
  "checkbox",
  "combobox",
  "meter",
  "link",
  "image",
  "menuitem",
  "menu",
];

/** Returns the roles of elements without an accessible name. */
async function nameless(page) {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const bad = nodes.filter(
    (node) => !node.ignored && widgets.includes(node.role?.value) && !node.name?.value?.trim(),
  );
  return bad.map((node) => node.role.value);
}

claim("Everything that can be used has a name", async (visitor, page) => {
  await visitor.open();
  assert.deepEqual(await nameless(page), []);
  await visitor.talk(
    "Show me `code`.",
    "```js\nlet a = 1;\n```\n\n- [x] done\n\n[link](https://example.com/)",
  );
  await visitor.button("Settings").click();
  await page.getByText("Penalties and biases").click();
  await page.getByLabel("Logit bias").waitFor();
  for (const name of ["Temperature", "Top-p", "Min-p", "Max tokens"])
    assert.equal(await page.getByRole("slider", { name, exact: true }).count(), 1);
  assert.deepEqual(await nameless(page), []);
  await visitor.button("Drafting").click();
  await page.getByLabel("Method", { exact: true }).selectOption("spectr");
  await page.getByRole("slider", { name: "Tokens per draft L" }).waitFor();
  for (const name of ["Draft sequences K", "Tokens per draft L"])
    assert.equal(await page.getByRole("slider", { name, exact: true }).count(), 1);
  await visitor.ask("Once upon a time");
  await visitor.idle();
  assert.deepEqual(await nameless(page), []);
  await page.locator("header").getByRole("button", { name: /^More/ }).click();
  assert.deepEqual(await nameless(page), []);
});

const everything =
  "# Title\n\nA \\(x^2\\), `code` and a [link](https://example.com/).\n\n\\[\\sqrt{x}\\]\n\n" +
  "```js\nlet a = 1;\n```\n\n- [x] done\n\n| a | b |\n|---|---|\n| 1 | 2 |";

for (const [device, options] of [
  ["a wide window", {}],
  ["the dark", { colorScheme: "dark" }],
  ["a phone", { ...phone }],
]) {
  claim(`axe-core finds nothing wrong on ${device}`, options, async (visitor, page) => {
    const sound = async (where) => assert.deepEqual(await violations(page), [], where);
    await visitor.open();
    await visitor.ready();
    await sound("start screen");
    const file = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("some notes") };
    await page.getByLabel("Files to attach").setInputFiles(file);
    await page
      .getByLabel("Files to attach")
      .setInputFiles({ ...file, name: "cat.png", mimeType: "image/png" });
    await sound("files and a notice");
    await visitor.button("Close").click();
    const next = visitor.next();
    await visitor.ask("Show me everything.");
    const answer = await next;
    answer.read({ total: 100, cache: 0, processed: 40, time_ms: 100 });
    await page.getByRole("progressbar").waitFor();
    await sound("progress");
    answer.writeTokens(everything);
    answer.end("length");
    await visitor.idle();
    await visitor.questions.getByText("notes.txt").click();
    await sound("conversation");
    await visitor.answers.getByRole("button", { name: "Edit" }).click();
    await sound("editor");
    await visitor.button("Cancel").click();
    const called = visitor.next();
    await visitor.ask("Call.");
    (await called).call({ index: 0, id: "a1", function: { name: "clock", arguments: "{}" } });
    (await called).end("tool_calls");
    await visitor.idle();
    await visitor.answers.getByText("Call of clock").click();
    await sound("a call and the form of its result");
    const resulted = visitor.next();
    await visitor.button("Send result").click();
    (await resulted).say('{"time": [12, 30]}');
    await visitor.idle();
    await page.getByText("Result of clock").click();
    await sound("a result and JSON");
    await visitor.button("Drafting").click();
    await sound("drafting");
    if (!options.isMobile) await visitor.button("Close drafting").click();
    await page.getByLabel("Markdown").check();
    await sound("drafting as Markdown");
    await visitor.button("Settings").click();
    await page.getByText("Penalties and biases").click();
    await page.getByText("Format and tools").click();
    await visitor.button("Save as preset").click();
    await sound("settings");
    await visitor.button("Close settings").click();
    if (options.isMobile) await visitor.button("Conversations").click();
    await page.getByRole("searchbox").fill("nothing at all");
    await page.getByText("No conversation contains").waitFor();
    await sound("search");
    await page.getByRole("searchbox").fill("");
    await sound("list");
  });
}

claim("A screen reader hears when an answer is complete", async (visitor, page) => {
  await visitor.open();
  await visitor.talk("Hello.", "Hello yourself.");
  assert.equal(await page.locator("p[role=status].visually-hidden").textContent(), "Answer complete");
});

/** Returns the contrast ratio of an element's text and its background (WCAG 2). */
const contrastOf = (element) =>
  element.evaluate((one) => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const paint = (color) => {
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      return canvas.getImageData(0, 0, 1, 1).data;
    };
    const backgrounds = [];
    for (let at = one; at; at = at.parentElement) backgrounds.unshift(getComputedStyle(at).backgroundColor);
    paint("white");
    const back = backgrounds.map(paint).at(-1);
    const luminance = (rgb) => {
      const [r, g, b] = [...rgb]
        .slice(0, 3)
        .map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const levels = [luminance(back), luminance(paint(getComputedStyle(one).color))].sort((a, b) => b - a);
    return (levels[0] + 0.05) / (levels[1] + 0.05);
  });

const code = '```python\n# twice\ndef twice(x: int):\n    return "a" * 2\n```';

for (const colorScheme of ["light", "dark"]) {
  claim(`Text can be read in ${colorScheme} colours`, { colorScheme }, async (visitor, page) => {
    await visitor.open();
    await visitor.talk("Show me.", `Here.\n\n${code}\n\n[a link](https://example.com/)`);
    const next = visitor.next();
    await visitor.ask("Again.");
    (await next).refuse(400, "this cannot be served");
    await visitor.answers.last().getByRole("alert").waitFor();
    visitor.forgive(/400/);
    await visitor.shot(colorScheme);
    await visitor.button("Drafting").click();
    const texts = [
      ".markdown a",
      ".said",
      ".hint",
      ".card strong",
      ".card p",
      "#status",
      "pre .hljs-keyword",
      "pre .hljs-string",
      "pre .hljs-comment",
      "pre .hljs-number",
      ".legend .draft",
      ".legend .correction",
      ".legend .bonus",
      ".below",
      ".row .open",
      ".new",
    ];
    for (const text of texts) {
      const all = page.locator(text);
      if ((await all.count()) === 0 && /hint/.test(text)) continue;
      const contrast = await contrastOf(all.first());
      assert.ok(contrast >= 4.5, `${text}: ${contrast.toFixed(2)}`);
    }
  });
}

claim("Colours are the system's until one chooses", { colorScheme: "dark" }, async (visitor, page) => {
  await visitor.open();
  const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await back();
  await visitor.button("Light colours").click();
  await page.locator(":root[data-theme=light]").waitFor();
  assert.notEqual(await back(), dark);
  await page.reload();
  await visitor.button("Dark colours").waitFor();
  assert.notEqual(await back(), dark);
});

claim(
  "On a phone the conversation comes first, and nothing lies beside the window",
  { ...phone },
  async (visitor, page) => {
    await visitor.open();
    const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    await visitor.shot("phone-empty");
    assert.ok(await visitor.field.isVisible());
    assert.ok((await visitor.field.boundingBox()).y < phone.viewport.height);
    await visitor.talk(
      "Show me a table.",
      `| ${"a long heading | ".repeat(8)}\n|${"---|".repeat(8)}\n| ${"cell | ".repeat(8)}\n\n${code}`,
    );
    assert.ok(await fits(), "wide tables and code scroll by themselves");
    await visitor.shot("phone");
    await visitor.button("Conversations").tap();
    await page.getByRole("navigation", { name: "Conversations" }).waitFor();
    await visitor.shot("phone-list");
    await page.keyboard.press("Escape");
    await page.getByRole("navigation").waitFor({ state: "detached" });
    await visitor.button("Settings").tap();
    await page.getByRole("slider", { name: "Temperature" }).waitFor();
    assert.ok(await fits());
    await visitor.shot("phone-settings");
    await visitor.button("Close settings").tap();
    const next = visitor.next();
    await visitor.ask("Again.");
    (await next).refuse(503, "no slot became free in time");
    const card = visitor.answers.last().getByRole("alert");
    await card.waitFor();
    const box = await card.boundingBox();
    const field = await visitor.field.boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height <= field.y, "an error is in sight");
    visitor.forgive(/503/);
  },
);

claim("What is written stays in sight, unless one has scrolled away", async (visitor, page) => {
  await visitor.open();
  const next = visitor.next();
  await visitor.ask("Write much.");
  const answer = await next;
  const lines = (from) => Array.from({ length: 40 }, (_, i) => `line ${from + i}\n\n`).join("");
  answer.write(lines(0));
  await page.getByText("line 39", { exact: true }).waitFor();
  const bottom = () =>
    page.locator(".thread").evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight);
  assert.ok((await bottom()) < 5);
  await page.locator(".thread").evaluate((one) => one.scrollTo(0, 0));
  await visitor.button("To the end").waitFor();
  answer.say(lines(40));
  await visitor.idle();
  assert.ok((await bottom()) > 100);
  await visitor.button("To the end").click();
  assert.ok((await bottom()) < 5);
});

claim("The licences of its libraries and fonts are part of the page", async (visitor, page) => {
  await visitor.open();
  await visitor.button("Settings").click();
  const href = await page.getByRole("link", { name: /Licences/ }).getAttribute("href");
  const text = await page.evaluate((path) => fetch(path).then((response) => response.text()), href);
  for (const name of ["dompurify", "highlight.js", "katex", "marked", "preact"])
    assert.match(text, new RegExp(`^${name} [0-9.]+ \\(`, "m"));
  assert.match(text, /^Fonts of KaTeX \(OFL-1\.1\)$/m);
});
