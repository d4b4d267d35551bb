// Shared helpers for tests of the page: node TEST.js PROGRAM CHROMIUM [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import axe from "axe-core";
import { chromium } from "playwright-core";
import { front } from "./front.js";
import { serve } from "./server.js";

const [program, executablePath, folder] = process.argv.slice(2);
const desktop = { viewport: { width: 1280, height: 800 }, colorScheme: "light" };
export const phone = {
  viewport: { width: 390, height: 760 },
  hasTouch: true,
  isMobile: true,
  deviceScaleFactor: 2,
  colorScheme: "light",
};

let browser, server, entrance;

/** Starts a server with these flags for all tests of the file. */
export function withServer(...flags) {
  before(async () => {
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
    server = await serve(program, ...flags);
    entrance = await front(server.address);
  });
  after(async () => {
    await browser.close();
    await entrance.stop();
    await server.stop();
  });
}

const drawn = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Makes user actions resolve only after the page's next frame, because tests check results at once. */
function drawBehind(acting, actions, pageOf) {
  for (const action of actions) {
    const plain = acting[action];
    acting[action] = async function (...what) {
      const done = await plain.apply(this, what);
      await drawn(pageOf(this)).catch(() => {}); // the action has navigated to another page
      return done;
    };
  }
}

/** The page in a fresh browser, and the helpers with which tests drive it. */
class Visitor {
  constructor(page) {
    this.page = page;
    this.failures = [];
    page.setDefaultTimeout(20_000);
    page.on("pageerror", (error) => this.failures.push(String(error)));
    page.on("console", (message) => message.type() === "error" && this.failures.push(message.text()));
    page.on(
      "request",
      (request) =>
        /^(http:\/\/127\.0\.0\.1:|data:|blob:)/.test(request.url()) || this.failures.push(request.url()),
    );
    this.field = page.getByRole("textbox", { name: /^(Message|Prompt)$/ });
    this.answers = page.getByRole("article", { name: "Assistant" });
    this.questions = page.getByRole("article", { name: "You" });
  }

  async open(address = entrance.address) {
    await this.page.goto(address);
    await this.field.waitFor();
    return this;
  }

  button(name, exact = true) {
    return this.page.getByRole("button", { name, exact });
  }

  /** Types a message once the field is uncovered, and sends it by Enter once the server is known. */
  async ask(text) {
    await this.page.locator("main:not([inert])").waitFor();
    await this.field.fill(text);
    await this.page.locator("#send:enabled").waitFor();
    await this.field.press("Enter");
  }

  /** Sends a question and has it answered with `text`. Returns the body of the request. */
  async talk(question, text, ...ending) {
    const next = entrance.next();
    await this.ask(question);
    const answer = await next;
    answer.say(text, ...ending);
    await this.idle();
    return answer.body;
  }

  /** Returns the scripted answer to the next request, which the test writes. */
  next() {
    return entrance.next();
  }

  /** Waits until `check` returns a truthy value. */
  async until(check) {
    for (let tries = 400; tries > 0; tries -= 1) {
      if (await check()) return;
      await setTimeout(50);
    }
    assert.fail(`in vain: ${check}`);
  }

  /** Waits until the effect of the last action is drawn. */
  drawn() {
    return drawn(this.page);
  }

  /** Waits until the page has contacted its server. */
  async ready() {
    await this.until(async () => (await this.page.locator("#status").textContent()) !== "spectr");
  }

  /** Waits until no answer is being written. */
  async idle() {
    await this.drawn();
    await this.button("Send").waitFor({ timeout: 120_000 });
    await this.drawn();
  }

  async menu(choice) {
    await this.page.locator("header").getByRole("button", { name: /^More/ }).click();
    await this.page.getByRole("menuitem", { name: choice, exact: true }).click();
  }

  async shot(name) {
    if (folder) await this.page.screenshot({ path: `${folder}/${name}.png` });
  }

  /** Removes an error in the browser's console that the test has provoked. */
  forgive(pattern) {
    const at = this.failures.findIndex((failure) => pattern.test(failure));
    assert.ok(at >= 0, `no failure matches ${pattern}`);
    this.failures.splice(at, 1);
  }
}

export const serverAddress = () => server.address;
export const startServer = (...flags) => serve(program, ...flags);

/** Returns the violations that axe-core finds on the current page: rule and element. */
export async function violations(page) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run());
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

let drawsBehind = false;

async function newPage(context) {
  const page = await context.newPage();
  if (!drawsBehind) {
    const locators = Object.getPrototypeOf(page.locator("body"));
    const actions = ["click", "fill", "hover", "press", "selectOption", "setInputFiles", "tap"];
    drawBehind(locators, actions, (locator) => locator.page());
    drawsBehind = true;
  }
  drawBehind(page.keyboard, ["press"], () => page);
  return page;
}

/** Defines a test of the page that runs in a browser context of its own with `options`. */
export function claim(name, options, work) {
  const [contextOptions, run] = work ? [{ ...desktop, ...options }, work] : [desktop, options];
  test(name, { timeout: 120_000 }, async () => {
    const context = await browser.newContext({ ...contextOptions, acceptDownloads: true });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const visitor = new Visitor(await newPage(context));
    try {
      await run(visitor, visitor.page);
      assert.deepEqual(visitor.failures, [], "the page or its console tells no failures");
    } finally {
      await context.close();
    }
  });
}
