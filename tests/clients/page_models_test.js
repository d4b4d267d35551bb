// The page of a server with several models.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { claim, withServer } from "./browser.js";

const models = join(dirname(process.argv[2]), "../../../models");
withServer("--models-dir", models, "--models-max", "1", "-n", "8");

claim("One of several models is chosen in the settings, and answers", async (visitor, page) => {
  const large = "spectr-stories-7m-q8_0";
  const small = "spectr-stories-draft-0.6m-q8_0";
  await visitor.open();
  await visitor.button("Settings").click();
  const choice = page.getByLabel("Model", { exact: true });
  for (const name of [small, large]) {
    await choice.selectOption(name);
    await page.locator("header").getByText(name, { exact: true }).waitFor();
  }
  const asked = page.waitForRequest(/completions/);
  await visitor.ask("Once upon a time");
  assert.equal((await asked).postDataJSON().model, large);
  await visitor.idle();
  assert.notEqual(await visitor.answers.last().innerText(), "");
  await page.reload();
  await page.locator("header").getByText(large, { exact: true }).waitFor();
});
