// The page in a browser: node page_test.js PROGRAM CHROMIUM [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { serve } from "./server.js";

const [program, executablePath, folder] = process.argv.slice(2);
const server = await serve(program);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  const failures = [];
  page.on("console", (message) => message.type() === "error" && failures.push(message.text()));
  page.on("request", (request) => request.url().startsWith(server.address) || request.url().startsWith("data:") || failures.push(request.url()));
  const shot = async (name) => folder && page.screenshot({ path: `${folder}/${name}.png` });
  const done = () => page.waitForSelector("#send:not([disabled])", { timeout: 120_000 });

  // While models are loaded nothing can be asked; the page waits for them.
  await page.route("**/props", (route) => route.fulfill({ status: 503, headers: { "Retry-After": "1" }, json: { error: { message: "loading" } } }), { times: 1 });
  await page.goto(server.address);
  await page.waitForFunction(() => document.querySelector("#status").textContent === "loading");
  assert.ok(await page.isDisabled("#send"));
  await done();
  assert.match(failures.pop(), /503/);
  await page.waitForFunction(() => document.querySelector("#method").value === "auto");
  assert.ok(await page.isDisabled("#drafts"));
  await page.selectOption("#method", "spectr");
  assert.ok(await page.isEnabled("#drafts"));
  await page.fill("#seed", "3");
  await page.fill("#limit", "96");

  // By keyboard alone: write, then walk along the tokens.
  await page.focus("#prompt");
  await page.keyboard.press("Control+Enter");
  await done();
  assert.ok((await page.locator("#text .token").count()) > 20);
  assert.ok((await page.locator("#text .token.draft").count()) > 0);
  await page.focus("#text");
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator("#tip").textContent(), /draft .* target .*%/);
  assert.match(await page.locator("#acceptance").getAttribute("aria-label"), /place 1: \d+ percent/);
  await shot("light");
  await page.click("#compare");
  await done();
  assert.match(await page.locator("#speed").getAttribute("aria-label"), /\d+ tokens per second, plain decoding \d+/);

  // The same seed gives the same text.
  const first = await page.locator("#text").textContent();
  await page.click("#send");
  await done();
  assert.equal(await page.locator("#text").textContent(), first);

  // A conversation, in the dark.
  await page.click("#theme");
  await page.check("input[value=chat]");
  await page.click("#clear");
  for (const line of ["Tom had a red ball.", "Then a dog came."]) {
    await page.fill("#prompt", line);
    await page.click("#send");
    await done();
  }
  assert.equal(await page.locator("#text .said").count(), 2);
  await shot("dark");

  // A turn that nothing answers is taken back: it stands in the field again, and is not sent with the next one.
  const chats = "**/v1/chat/completions";
  await page.click("#clear");
  await page.route(chats, (route) => route.fulfill({ status: 429, json: { error: { message: "too busy" } } }), { times: 1 });
  await page.fill("#prompt", "Tom had a red ball.");
  await page.click("#send");
  await done();
  assert.equal(await page.locator("#status").textContent(), "too busy");
  assert.match(failures.pop(), /429/);
  assert.equal(await page.locator("#prompt").inputValue(), "Tom had a red ball.");
  assert.equal(await page.locator("#text .said").count(), 0);
  const [sent] = await Promise.all([page.waitForRequest(chats), page.click("#send")]);
  assert.equal(sent.postDataJSON().messages.length, 1);
  await done();

  // Stopping.
  await page.check("input[value=completion]");
  await page.fill("#prompt", "Once upon a time");
  await page.click("#send");
  await page.keyboard.press("Escape");
  await done();
  assert.deepEqual(failures, []);

  // The page begins as the server was started.
  const other = await serve(program, "--method", "spectr", "--plan", "optimal", "-K", "16", "-L", "2", "--temp", "0.83", "-n", "40");
  try {
    await page.goto(other.address);
    await done();
    const values = await Promise.all(["method", "plan", "drafts", "length", "temperature", "limit"].map((id) => page.inputValue(`#${id}`)));
    assert.deepEqual(values, ["spectr", "optimal", "16", "2", "0.83", "40"]);
    const asked = async () => {
      const [request] = await Promise.all([page.waitForRequest("**/v1/completions"), page.click("#send")]);
      await done();
      return request.postDataJSON();
    };
    assert.equal((await asked()).speculative, undefined, "nobody chose: the server's own settings hold");
    await page.fill("#length", "3");
    assert.deepEqual((await asked()).speculative, { method: "spectr", drafts: 16, length: 3, plan: "optimal" });
    await shot("started");
  } finally {
    await other.stop();
  }
  console.log("the page works");
} finally {
  await browser.close();
  await server.stop();
}
