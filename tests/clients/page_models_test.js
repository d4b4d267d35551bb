// The page of a server with several models.
import assert from "node:assert/strict";
import { copyFile, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { claim, startServer, violations, withServer } from "./browser.js";

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

/** Makes a folder of models whose files have these names; those called broken are none. */
async function folderOf(...names) {
  const folder = await mkdtemp(join(tmpdir(), "spectr-"));
  for (const name of names) {
    const file = join(folder, `${name}.gguf`);
    if (name.startsWith("broken")) await writeFile(file, "no model");
    else await copyFile(join(models, "spectr-stories-draft-0.6m-q8_0.gguf"), file);
  }
  return folder;
}

const failure = "The model cannot be loaded";

claim("A model that cannot be loaded is named, and another one is chosen", async (visitor, page) => {
  const folder = await folderOf("broken", "good");
  const server = await startServer("--models-dir", folder, "-n", "8");
  const header = page.locator("header");
  try {
    await visitor.open(server.address);
    await header.getByText("good", { exact: true }).waitFor();
    await visitor.button("Settings").click();
    await page.getByLabel("Model", { exact: true }).selectOption("broken");
    const card = page.getByRole("alert").filter({ hasText: failure });
    await card.getByText("broken.gguf").waitFor();
    assert.ok(await visitor.button("Send").isDisabled());
    await visitor.button("Close settings").click();
    assert.deepEqual(await violations(page), []);
    await visitor.shot("failed-model");
    await card.getByLabel("Model").selectOption("good");
    await card.waitFor({ state: "detached" });
    await visitor.ask("Once upon a time");
    await visitor.idle();
    assert.notEqual(await visitor.answers.last().innerText(), "");
  } finally {
    await server.stop();
  }
});

claim("A file that is repaired is tried again", async (visitor, page) => {
  const folder = await folderOf("broken", "broken-too");
  const server = await startServer("--models-dir", folder);
  try {
    await visitor.open(server.address);
    const card = page.getByRole("alert").filter({ hasText: failure });
    await card.waitFor();
    const names = await card.getByLabel("Model").locator("option").allTextContents();
    assert.deepEqual(names, ["broken", "broken-too"]);
    const file = join(models, "spectr-stories-draft-0.6m-q8_0.gguf");
    for (const name of names) await copyFile(file, join(folder, `${name}.gguf`));
    await card.getByRole("button", { name: "Try again" }).click();
    await page.locator("header").getByText("broken", { exact: true }).waitFor();
    assert.equal(await card.count(), 0);
  } finally {
    await server.stop();
  }
});
