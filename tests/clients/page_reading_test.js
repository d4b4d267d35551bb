// Output for people: progress, speed, formulas, and token colours in Markdown.
import assert from "node:assert/strict";
import { claim, startServer, withServer } from "./browser.js";

withServer("-n", "48");

claim(
  "The progress of a long prompt is told in percent, without what came from the cache",
  async (visitor, page) => {
    await visitor.open();
    const next = visitor.next();
    await visitor.ask("A long question.");
    const answer = await next;
    assert.equal(answer.body.return_progress, true);
    const bar = page.getByRole("progressbar", { name: "Reading the prompt" });
    answer.read({ total: 3000, cache: 200, processed: 200, time_ms: 0 });
    await page.getByText("Reading the prompt: 0 %").waitFor();
    answer.read({ total: 3000, cache: 200, processed: 1600, time_ms: 4000 });
    await page.getByText("Reading the prompt: 50 %, 4 s left").waitFor();
    assert.equal(await bar.getAttribute("aria-valuenow"), "50");
    await visitor.shot("progress");
    answer.read({ total: 3000, cache: 200, processed: 3000, time_ms: 8000 });
    await bar.waitFor({ state: "detached" });
    answer.say("Short.");
    await visitor.idle();
    assert.match(await visitor.answers.textContent(), /^Short\./);
  },
);

claim("An answer tells how fast it came, from the real server too", async (visitor) => {
  await visitor.open();
  await visitor.ask("Once upon a time");
  await visitor.idle();
  assert.match(await visitor.answers.textContent(), /\d+ tokens? · \d+\.\d tokens\/s/);
  await visitor.answers.getByRole("button", { name: /tokens\/s/ }).click();
  await visitor.page.getByRole("complementary", { name: "Drafting" }).waitFor();
});

claim("An answer that tells no time has no speed", async (visitor) => {
  await visitor.open();
  await visitor.talk("Hello.", "Hello.");
  assert.equal(await visitor.answers.getByRole("button", { name: /tokens\/s/ }).count(), 0);
});

const formulas = `Both *ends* of \\(x_1 * y_1 * z\\) and *emphasis around \\(a*b*c\\) here* stay.

\\[
\\begin{aligned}
a &= b \\\\[2pt]
c &= \\sqrt{d}
\\end{aligned}
\\]

1. In a list:
   $$\\sum_{i=1}^n i$$
2. Also $\\alpha_i$, and inline \\[e^x\\] too.

| a | b |
|---|---|
| \\(t^2\\) | 1 |`;

claim("Formulas are drawn, and Markdown leaves their signs alone", async (visitor, page) => {
  await visitor.open();
  await visitor.talk("Show me.", formulas);
  const answer = visitor.answers.first();
  const sources = await answer
    .locator("annotation[encoding='application/x-tex']")
    .evaluateAll((all) => all.map((one) => one.textContent));
  assert.deepEqual(sources, [
    "x_1 * y_1 * z",
    "a*b*c",
    "\\begin{aligned}\na &= b \\\\[2pt]\nc &= \\sqrt{d}\n\\end{aligned}",
    "\\sum_{i=1}^n i",
    "\\alpha_i",
    "e^x",
    "t^2",
  ]);
  assert.equal(await answer.locator(".math.display .katex-display").count(), 3);
  assert.deepEqual(
    await answer.locator("em").evaluateAll((all) => all.map((one) => one.textContent.slice(0, 8))),
    ["ends", "emphasis"],
  );
  assert.equal(await answer.locator("li .katex-display").count(), 2);
  const fonts = await page.evaluate(() =>
    Array.from(document.fonts)
      .filter((font) => font.status === "loaded")
      .map((font) => font.family),
  );
  assert.ok(fonts.includes("KaTeX_Main") && fonts.includes("KaTeX_Math"), "their fonts are part of the page");
  await visitor.shot("formulas");
  await answer.getByRole("button", { name: "Copy", exact: true }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), formulas);
});

const prices = `It costs $5 or $10, 5$ or 6$, and US$20 to $30.

Set \`$HOME\` and $PATH, \`\\(code\\)\`, \\\\(escaped\\\\), and an open \\( bracket.

\`\`\`
\\[ code \\] $$x$$
\`\`\``;

claim("Prices, code and brackets that nothing closes are no formulas", async (visitor) => {
  await visitor.open();
  await visitor.talk("Prices?", prices);
  const answer = visitor.answers.first();
  assert.equal(await answer.locator(".math").count(), 0);
  assert.match(await answer.textContent(), /It costs \$5 or \$10, 5\$ or 6\$, and US\$20 to \$30\./);
  assert.equal(await answer.locator("pre code").textContent(), "\\[ code \\] $$x$$");
});

claim(
  "A formula with an error is shown as it was written, and one cannot lead or load anything",
  async (visitor, page) => {
    await visitor.open();
    await visitor.talk(
      "Wrong?",
      "A \\(\\frac{a\\) and \\(\\href{javascript:alert(1)}{b}\\) and \\(\\includegraphics{https://example.com/p.png}\\).",
    );
    const answer = visitor.answers.first();
    assert.equal(await answer.locator(".math.wrong").first().textContent(), "\\(\\frac{a\\)");
    assert.equal(await answer.locator("a, img").count(), 0);
    assert.equal(await page.getByRole("alert").count(), 0);
  },
);

const tokens = [
  ["# Ti", "draft"],
  ["tle\n\nSome ", "draft"],
  ["**bo", "correction"],
  ["ld** and ", "bonus"],
  ["\\(x", "target"],
  ["^2\\).\n\n", "draft"],
  ["- one\n", "draft"],
  ["- t", "correction"],
  ["wo\n\n```c\nin", "draft"],
  ["t x;\n```", "bonus"],
];

claim("The drafting view shows Markdown in the colours of its tokens on request", async (visitor, page) => {
  await visitor.open();
  await visitor.button("Drafting").click();
  const next = visitor.next();
  await visitor.ask("Show me.");
  const answer = await next;
  answer.writeTokens(...tokens);
  answer.end();
  await visitor.idle();
  assert.equal(await page.locator(".tokens").count(), 1);
  await page.getByLabel("Markdown").check();
  const shown = visitor.answers.first();
  assert.equal(await shown.getByRole("heading", { name: "Title" }).count(), 1);
  assert.equal(await shown.getByRole("listitem").count(), 2);
  assert.equal(await shown.locator(".math .katex").count(), 1);
  const parts = await shown
    .locator(".token")
    .evaluateAll((all) =>
      all
        .filter((one) => !one.matches(".math"))
        .map((one) => [one.textContent, one.classList[1], +one.dataset.index]),
    );
  assert.deepEqual(parts, [
    ["Ti", "draft", 0],
    ["tle", "draft", 1],
    ["Some ", "draft", 1],
    ["bo", "correction", 2],
    ["ld", "bonus", 3],
    [" and ", "bonus", 3],
    [".", "draft", 5],
    ["one", "draft", 6],
    ["t", "correction", 7],
    ["wo", "draft", 8],
    ["in", "draft", 8],
    ["t", "bonus", 9],
    [" x;", "bonus", 9],
  ]);
  assert.equal(await shown.locator(".math.token.target").getAttribute("data-index"), "4");
  await visitor.shot("drafting-markdown");
  await shown.getByText("bo", { exact: true }).hover();
  assert.match(await page.locator(".tip:visible").textContent(), /\*\*bo.*Correction/);
  await page.getByRole("group", { name: /^Tokens/ }).focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator(".tip:visible").textContent(), /ld\*\*.*Bonus/);
  await page.reload();
  await visitor.button("Drafting").click();
  assert.ok(await page.getByLabel("Markdown").isChecked(), "the choice is kept");
});

claim("A server without a draft model is said to have none", async (visitor, page) => {
  await visitor.open();
  await visitor.ready();
  await visitor.button("Drafting").click();
  assert.equal(await page.getByText("no draft model").count(), 0);
  const { model_path } = await page.evaluate(() => fetch("props").then((response) => response.json()));
  const server = await startServer("-m", model_path, "-n", "8");
  try {
    await visitor.open(server.address);
    await visitor.ready();
    assert.match(await page.locator("#facts").textContent(), /No draft model/);
    await visitor.button("Drafting").click();
    const panel = page.getByRole("complementary", { name: "Drafting" });
    assert.match(await panel.getByRole("note").textContent(), /This server has no draft model.*-md FILE/s);
    await page.locator(".legend").getByText("No draft model").waitFor();
  } finally {
    await server.stop();
  }
});
