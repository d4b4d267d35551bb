// The drafting view, which shows the source of each token, is one click away.
import assert from "node:assert/strict";
import { claim, phone, startServer, withServer } from "./browser.js";

withServer("-n", "96");

async function withStory(visitor) {
  await visitor.open();
  await visitor.page.getByRole("radio", { name: "Completion" }).check({ force: true });
  await visitor.ready();
  await visitor.button("Drafting").click();
  if (visitor.page.viewportSize().width > 600)
    await visitor.page.getByLabel("Method", { exact: true }).selectOption("spectr");
  await visitor.ask("Once upon a time");
  await visitor.idle();
}

const tip = (page) => page.locator(".tip:visible");
const explained = /draft .* · target .*%/;

claim("Tokens are coloured by source, and arrow keys walk along them", async (visitor, page) => {
  await withStory(visitor);
  assert.ok((await page.locator(".token[data-index]").count()) > 20);
  assert.ok((await page.locator(".token.draft[data-index]").count()) > 0);
  const tokens = page.getByRole("group", { name: /^Tokens/ });
  await tokens.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match(await tip(page).textContent(), explained);
  assert.equal(await page.locator(".token.current").getAttribute("data-index"), "1");
  await visitor.shot("drafting");
  await page.keyboard.press("Escape");
  assert.equal(await tip(page).count(), 0);
  await page.locator(".token[data-index='5']").hover();
  assert.match(await tip(page).textContent(), explained);
  await visitor.button("Drafting").click();
  assert.equal(await page.locator(".token[data-index]").count(), 0, "one click leads back");
});

claim("A tap shows a token's tip, within the window", { ...phone }, async (visitor, page) => {
  await withStory(visitor);
  for (const index of [0, 20, 40]) {
    await page.locator(`.token[data-index='${index}']`).tap();
    assert.match(await tip(page).textContent(), explained);
    const box = await tip(page).boundingBox();
    assert.ok(
      box.x >= 0 && box.x + box.width <= phone.viewport.width,
      `the tip lies at ${JSON.stringify(box)}`,
    );
  }
  await visitor.shot("phone-drafting");
  await visitor.field.tap();
  assert.equal(await tip(page).count(), 0);
  await page.getByRole("button", { name: /tokens per pass/ }).tap();
  await page.getByRole("complementary", { name: "Drafting" }).waitFor();
  await visitor.shot("phone-statistics");
});

claim("A line break can be seen and pointed at, and is copied as itself", async (visitor, page) => {
  await visitor.open();
  await visitor.button("Drafting").click();
  const answering = visitor.next();
  await visitor.ask("Two lines");
  const answer = await answering;
  answer.writeTokens("One", "\n", "two.\n", "End");
  answer.end();
  await visitor.idle();
  for (const index of [1, 2]) {
    await page.locator(`.token[data-index='${index}'] .line-end`).hover();
    assert.match(await tip(page).textContent(), /↵.*From the target alone/);
  }
  const copied = await page.locator(".tokens").evaluate((tokens) => {
    getSelection().selectAllChildren(tokens);
    return getSelection().toString();
  });
  assert.equal(copied, "One\ntwo.\nEnd");
});

claim("Statistics tell one speed for one text, beside that of plain decoding", async (visitor, page) => {
  await withStory(visitor);
  const panel = page.getByRole("complementary", { name: "Drafting" });
  assert.match(
    await panel.getByRole("img", { name: /^place 1: \d+ percent/ }).getAttribute("aria-label"),
    /place 1/,
  );
  const row = (name) => panel.locator("#numbers div", { hasText: name }).locator("dd").textContent();
  const speed = await row("Tokens per second");
  assert.match(
    await panel.getByRole("img", { name: /tokens per second/ }).getAttribute("aria-label"),
    new RegExp(`^${speed} tokens per second`),
  );
  assert.match(await visitor.answers.textContent(), new RegExp(`${speed} tokens/s`));
  assert.equal(await row("Plain decoding"), "not measured");
  await visitor.button("Measure plain decoding").click();
  await panel.getByRole("img", { name: /plain decoding/ }).waitFor();
  assert.match(await row("Plain decoding"), /^\d+\.\d$/);
  assert.equal(await row("Distribution"), "the target’s, exactly");
});

claim("The same seed writes the same text", async (visitor, page) => {
  await visitor.open();
  await visitor.button("Settings").click();
  await page.getByRole("spinbutton", { name: "Seed" }).fill("3");
  await visitor.ask("Once upon a time");
  await visitor.idle();
  const first = await visitor.answers.locator(".markdown").textContent();
  await visitor.button("Regenerate").click();
  await visitor.answers.getByText("2 of 2").waitFor();
  assert.equal(await visitor.answers.locator(".markdown").textContent(), first);
});

claim(
  "The page begins as the server was started, and says nothing of drafts that nobody chose",
  async (visitor, page) => {
    const other = await startServer(
      "--method",
      "spectr",
      "--plan",
      "optimal",
      "-K",
      "16",
      "-L",
      "2",
      "--temp",
      "0.83",
      "-n",
      "40",
    );
    const asked = async () => {
      const [request] = await Promise.all([
        page.waitForRequest("**/completions"),
        visitor.ask("Once upon a time"),
      ]);
      await visitor.idle();
      return request.postDataJSON();
    };
    const number = (name) => page.getByRole("spinbutton", { name, exact: true });
    try {
      await visitor.open(other.address);
      await visitor.ready();
      await visitor.button("Settings").click();
      assert.equal(await number("Temperature").getAttribute("placeholder"), "0.83");
      assert.equal(await page.getByRole("slider", { name: "Temperature" }).inputValue(), "0.83");
      assert.equal(await number("Max tokens").getAttribute("placeholder"), "40");
      await visitor.button("Drafting").click();
      assert.equal(await page.getByLabel("Method", { exact: true }).inputValue(), "spectr");
      assert.equal(await page.getByLabel("Plan").inputValue(), "optimal");
      assert.equal(await page.getByRole("slider", { name: "Draft sequences K" }).inputValue(), "16");
      assert.equal((await asked()).speculative, undefined);
      await number("Tokens per draft L").fill("3");
      assert.deepEqual((await asked()).speculative, {
        method: "spectr",
        plan: "optimal",
        drafts: 16,
        length: 3,
      });
      await visitor.button("As the server was started").click();
      assert.equal((await asked()).speculative, undefined);
    } finally {
      await other.stop();
    }
  },
);
