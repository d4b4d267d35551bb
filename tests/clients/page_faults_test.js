// Errors are shown at the place where they matter, and can be corrected there.
import assert from "node:assert/strict";
import { claim, startServer, withServer } from "./browser.js";

withServer();

const cardOf = (visitor) => visitor.page.getByRole("alert");

claim("While models are loaded nothing can be asked; the page waits for them", async (visitor, page) => {
  const loading = {
    status: 503,
    headers: { "Retry-After": "1" },
    json: { error: { message: "models are being loaded" } },
  };
  await page.route("**/props", (route) => route.fulfill(loading), { times: 1 });
  await visitor.open();
  await page.getByText("models are being loaded").waitFor();
  await visitor.field.fill("Now?");
  assert.ok(await visitor.button("Send").isDisabled());
  await visitor.until(() => visitor.button("Send").isEnabled());
  assert.equal(await cardOf(visitor).count(), 0);
  visitor.forgive(/503/);
});

claim("A server that wants a key is given one where it says so", async (visitor, page) => {
  const locked = await startServer("--api-key", "secret");
  try {
    await visitor.open(locked.address);
    await page.getByText("The server wants an API key").waitFor();
    const key = page.getByRole("alert").getByLabel("API key");
    await key.fill("wrong");
    const refused = page.waitForResponse((response) => response.status() === 401);
    await visitor.button("Use key").click();
    await refused;
    assert.match(await cardOf(visitor).textContent(), /wants an API key/);
    await key.fill("secret");
    await visitor.button("Use key").click();
    await cardOf(visitor).waitFor({ state: "detached" });
    await visitor.button("Settings").click();
    assert.match(await page.locator("#key-hint").textContent(), /The server takes it/);
    await visitor.ask("Once upon a time");
    await visitor.idle();
    assert.ok((await visitor.answers.textContent()).trim());
    await page.reload();
    await visitor.ready();
    visitor.forgive(/401/);
    visitor.forgive(/401/);
  } finally {
    await locked.stop();
  }
});

claim("A server without keys is said to want none", async (visitor, page) => {
  await visitor.open();
  await visitor.ready();
  await visitor.button("Settings").click();
  assert.match(await page.locator("#key-hint").textContent(), /wants none/);
});

claim(
  "A key that is refused with an answer is asked for there, and the answer is written",
  async (visitor, page) => {
    await visitor.open();
    let next = visitor.next();
    await visitor.ask("Hello.");
    (await next).refuse(401, "a key is wanted", "authentication_error");
    await visitor.answers.getByLabel("API key").fill("secret");
    next = visitor.next();
    await page.keyboard.press("Enter");
    const answer = await next;
    assert.equal(answer.headers.authorization, "Bearer secret");
    answer.say("Welcome.");
    await visitor.idle();
    assert.match(await visitor.answers.textContent(), /Welcome/);
    visitor.forgive(/401/);
  },
);

claim(
  "A question that nothing answered can be asked again, and is not sent with the next one",
  async (visitor) => {
    await visitor.open();
    let next = visitor.next();
    await visitor.ask("First.");
    (await next).refuse(429, "too many requests wait");
    await visitor.answers.getByText("too many requests wait").waitFor();
    next = visitor.next();
    await visitor.button("Try again").click();
    (await next).refuse(429, "still too many");
    await visitor.answers.getByText("still too many").waitFor();
    assert.equal(await visitor.answers.count(), 1);
    const sent = await visitor.talk("Second.", "Yes.");
    assert.deepEqual(sent.messages, [{ role: "user", content: "Second." }]);
    visitor.forgive(/429/);
    visitor.forgive(/429/);
  },
);

claim("What was written before an error stays, and can be continued", async (visitor) => {
  await visitor.open();
  for (const end of [(answer) => answer.fail("the server stops"), (answer) => answer.breakOff()]) {
    const next = visitor.next();
    await visitor.ask("Write.");
    const answer = await next;
    answer.write("The beginning");
    await visitor.answers.last().getByText("The beginning").waitFor();
    end(answer);
    await cardOf(visitor).last().waitFor();
    assert.match(await visitor.answers.last().textContent(), /The beginning/);
    const onward = visitor.next();
    await visitor.button("Continue").click();
    (await onward).say(" and the end.");
    await visitor.idle();
    assert.match(await visitor.answers.last().textContent(), /The beginning and the end\./);
    assert.equal(await cardOf(visitor).count(), 0);
  }
  visitor.failures.splice(0); // Chromium logs broken connections in its own words
});

claim("A server that cannot be reached is said to be, and is found again", async (visitor, page) => {
  await visitor.open();
  await visitor.talk("One.", "Yes.");
  await page.route("**/*", (route) => route.abort());
  await visitor.ask("Two.");
  await visitor.answers.last().getByText("The server cannot be reached.").waitFor();
  await page.getByText("It is asked again every few seconds.").waitFor();
  await page.unroute("**/*");
  await page.getByText("It is asked again every few seconds.").waitFor({ state: "detached" });
  const next = visitor.next();
  await visitor.button("Try again").click();
  (await next).say("Here.");
  await visitor.idle();
  assert.match(await visitor.answers.last().textContent(), /Here/);
  visitor.failures.splice(0);
});

claim("An empty answer is said to be empty", async (visitor) => {
  await visitor.open();
  await visitor.talk("Silence.", "");
  assert.match(await visitor.answers.textContent(), /The answer is empty/);
  assert.equal(await visitor.questions.count(), 1);
  const next = visitor.next();
  await visitor.button("Try again").click();
  (await next).say("Now something.");
  await visitor.idle();
  assert.match(await visitor.answers.textContent(), /Now something/);
});

claim("What is cleared or stopped while it is written stays so", async (visitor, page) => {
  await visitor.open();
  for (const [way, act] of [
    ["clear", () => visitor.menu("Clear")],
    ["stop", () => visitor.button("Stop").click()],
    ["Escape", () => page.keyboard.press("Escape")],
  ]) {
    const next = visitor.next();
    await visitor.ask(`Write, then ${way}.`);
    const answer = await next;
    answer.write("Some words");
    await visitor.answers.getByText("Some words").waitFor();
    await act();
    await answer.closed;
    await visitor.idle();
    assert.equal(await visitor.answers.count(), way === "clear" ? 0 : 1);
    if (way !== "clear") assert.match(await visitor.answers.textContent(), /Some words.*Stopped/s);
    await visitor.button("New chat").click();
  }
});

claim("A question longer than the context is told with what can be done", async (visitor) => {
  await visitor.open();
  await visitor.ask(" dog".repeat(3000));
  await visitor.answers.getByText("This is longer than the context").waitFor();
  await visitor.answers.getByRole("button", { name: "New chat" }).click();
  await visitor.answers.waitFor({ state: "detached" });
  visitor.forgive(/400/);
});

claim("A full context is told, and its meter shows it", async (visitor, page) => {
  await visitor.open();
  const { n_ctx } = await page.evaluate(() => fetch("props").then((response) => response.json()));
  await visitor.talk("Much.", "A long story", "length", n_ctx);
  assert.match(await visitor.answers.textContent(), /The context is full/);
  assert.equal(await visitor.button("Continue").count(), 0);
  const meter = page.getByRole("meter", { name: "Context used" });
  assert.equal(await meter.getAttribute("aria-valuenow"), String(n_ctx));
});
