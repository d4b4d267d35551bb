// Export and import of conversations: JSON contains all of them and can be imported; Markdown is one branch to read.
import { newId, pathTo, showBranch, titleOf } from "./conversation.js";
import { indented } from "./json_text.js";
import { openConversation, preserve, tell } from "./library.js";
import { splitReasoning } from "./reasoning.js";
import { thinks } from "./requests.js";
import { state } from "./state.js";
import { loaded } from "./store.js";
import { fenced, textWithFiles } from "./text_files.js";

const format = "spectr conversations";

function download(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const fileName = (conversation) =>
  titleOf(conversation)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "") || "conversation";

const asJson = (conversations) => JSON.stringify({ format, version: 1, conversations }, null, 1);

const whole = async (id) => (state.current?.id === id ? state.current : loaded(id));

export async function exportJson(id) {
  const conversation = await whole(id);
  if (conversation) download(`${fileName(conversation)}.json`, "application/json", asJson([conversation]));
}

export async function exportAll() {
  const all = await Promise.all(state.list.map(({ id }) => whole(id)));
  download("spectr-conversations.json", "application/json", asJson(all.filter(Boolean)));
}

const asBlock = (title, text) => `${title}:\n\n${fenced(indented(text) ?? text, "")}`;

/** Returns the parts of a message in Markdown, its heading first. */
function asMarkdown(message) {
  if (message.role === "user") return ["## You", textWithFiles(message, true)];
  if (message.role === "tool")
    return ["## Tools", ...message.results.map(({ name, content }) => asBlock(`Result of ${name}`, content))];
  const { text } = splitReasoning(message, thinks(state.server.props));
  const calls = (message.calls ?? []).map((call) => asBlock(`Call of ${call.name}`, call.arguments));
  return ["## Assistant", ...(text || !calls.length ? [text] : []), ...calls];
}

export async function exportMarkdown(id) {
  const conversation = await whole(id);
  if (!conversation) return;
  const parts = [`# ${titleOf(conversation)}`];
  if (conversation.system.trim()) parts.push("## System", conversation.system);
  for (const message of pathTo(conversation)) parts.push(...asMarkdown(message));
  download(`${fileName(conversation)}.md`, "text/markdown", `${parts.join("\n\n")}\n`);
}

const isText = (value) => typeof value === "string";
const numberOr = (value, fallback) => (Number.isFinite(value) ? value : fallback);

const isFile = (file) => isText(file?.name) && isText(file.text);
const isCall = (call) => [call?.id, call?.name, call?.arguments].every(isText);
const isResult = (result) => [result?.id, result?.name, result?.content].every(isText);
/** Returns a list of an imported message if all of its entries are good; undefined otherwise. */
const listOf = (given, isGood) =>
  Array.isArray(given) && given.length && given.every(isGood) ? given : undefined;
const isToken = (token) => Array.isArray(token) && isText(token[0]) && isText(token[1]);

/** Returns the fields of an imported message that the page uses; null if it is invalid. */
function readMessage(given, ids) {
  if (!given || !["user", "assistant", "tool"].includes(given.role) || !isText(given.content)) return null;
  const { role, content } = given;
  const message = {
    id: ids.get(given.id),
    parent: ids.get(given.parent) ?? null,
    created: numberOr(given.created, Date.now()),
    role,
    content,
  };
  if (role === "user") {
    const files = Array.isArray(given.files) ? given.files.filter(isFile) : [];
    return files.length ? { ...message, files: files.map(({ name, text }) => ({ name, text })) } : message;
  }
  const results = listOf(given.results, isResult);
  if (role === "tool") return results ? { ...message, results } : null;
  const calls = listOf(given.calls, isCall);
  const tokens = Array.isArray(given.tokens) && given.tokens.every(isToken) ? given.tokens : [];
  const reasoning = isText(given.reasoning) ? given.reasoning : "";
  const { totals, usage } = given;
  return {
    ...message,
    reasoning,
    tokens,
    finish: isText(given.finish) ? given.finish : "interrupted",
    error: null,
    ...(calls ? { calls } : {}),
    ...(given.edited === true ? { edited: true } : {}),
    ...(Number.isFinite(totals?.tokens + totals?.ms + totals?.calls + totals?.drafted + totals?.accepted)
      ? { totals }
      : {}),
    ...(Number.isFinite(usage?.total_tokens) ? { usage } : {}),
    ...(Number.isFinite(given.seed) ? { seed: given.seed } : {}),
  };
}

/** Reads an imported conversation under new ids, so that it replaces none. Parents must precede their children. */
function readConversation(given) {
  if (!given || typeof given.messages !== "object") return null;
  const list = Object.values(given.messages ?? {});
  const ids = new Map();
  const messages = {};
  for (const one of list) {
    const known = one?.parent === null || ids.has(one?.parent);
    if (!known || !isText(one.id)) return null;
    ids.set(one.id, newId());
    const message = readMessage(one, ids);
    if (!message) return null;
    messages[message.id] = message;
  }
  const now = Date.now();
  const conversation = {
    id: newId(),
    title: isText(given.title) ? given.title : "",
    created: numberOr(given.created, now),
    changed: now,
    mode: given.mode === "completion" ? "completion" : "chat",
    system: isText(given.system) ? given.system : "",
    leaf: null,
    messages,
  };
  const end = messages[ids.get(given.leaf)] ?? Object.values(messages).at(-1);
  if (end) showBranch(conversation, end);
  return conversation;
}

/** Imports the conversations of a file that this page exported. */
export async function importFile(file) {
  let given = null;
  try {
    given = JSON.parse(await file.text());
  } catch {
    return tell(`“${file.name}” is not JSON.`);
  }
  const conversations =
    given?.format === format && Array.isArray(given.conversations)
      ? given.conversations.map(readConversation)
      : [null];
  if (!conversations.length || conversations.includes(null))
    return tell(`“${file.name}” holds no conversations that were exported here.`);
  for (const conversation of conversations) await preserve(conversation);
  await openConversation(conversations[0].id);
  tell(
    conversations.length === 1
      ? "1 conversation is imported."
      : `${conversations.length} conversations are imported.`,
  );
}
