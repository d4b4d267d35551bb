// A conversation is a tree of messages. An edited message or a regenerated answer becomes a sibling of the old one, so
// nothing is lost. `leaf` is the end of the branch that is shown.
//
// User messages may have `files` (see text_files.js); assistant messages may have `calls`, and messages of tools have
// `results` (see calls.js).
//
// Assistant messages also have `finish` (stop reason; null while streaming), `error`, `usage`, `seed`, `tokens` and
// `totals` (see drafting.js), and `edited` if the user wrote at least the beginning.
import { sentCalls, sentResults } from "./calls.js";
import { splitReasoning } from "./reasoning.js";
import { textWithFiles } from "./text_files.js";

/** Returns a unique id. Works without crypto.randomUUID, which browsers lack on plain HTTP. */
export function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

/** mode: "chat" sends the whole branch to the model; "completion" continues the last message. */
export function newConversation(mode, system) {
  const now = Date.now();
  return { id: newId(), title: "", created: now, changed: now, mode, system, leaf: null, messages: {} };
}

/** Adds a message below `parent` (an id or null) and shows it. */
export function addMessage(conversation, parent, fields) {
  const message = { id: newId(), parent, created: Date.now(), ...fields };
  conversation.messages[message.id] = message;
  conversation.leaf = message.id;
  return message;
}

/** Returns the messages from the first one to `end`. */
export function pathTo(conversation, end = conversation.leaf) {
  const path = [];
  for (let at = conversation.messages[end]; at; at = conversation.messages[at.parent]) path.unshift(at);
  return path;
}

const childrenOf = (conversation, id) =>
  Object.values(conversation.messages).filter((one) => one.parent === id);

/** Returns the message and its siblings, oldest first. */
export function siblingsOf(conversation, message) {
  return childrenOf(conversation, message.parent);
}

/** Shows the branch through this message, to its newest leaf. */
export function showBranch(conversation, message) {
  let end = message;
  for (let below = end; below; below = childrenOf(conversation, end.id).at(-1)) end = below;
  conversation.leaf = end.id;
}

/** Removes a message and its descendants. Shows a sibling, or else the parent. Returns the number of removed messages. */
export function removeMessage(conversation, message) {
  const all = siblingsOf(conversation, message);
  const at = all.indexOf(message);
  const gone = new Set([message.id]);
  for (const { id, parent } of Object.values(conversation.messages)) if (gone.has(parent)) gone.add(id);
  const left = Object.entries(conversation.messages).filter(([id]) => !gone.has(id));
  conversation.messages = Object.fromEntries(left);
  const beside = all[at - 1] ?? all[at + 1];
  if (beside) showBranch(conversation, beside);
  else conversation.leaf = message.parent;
  return gone.size;
}

const lengthOfTitle = 60;

/** Returns the title that the user chose, or the beginning of the first message. */
export function titleOf(conversation) {
  if (conversation.title) return conversation.title;
  const first = pathTo(conversation).find((message) => message.role === "user");
  const line = (first?.content.trim() || first?.files?.[0].name || "").replace(/\s+/g, " ");
  return line.length > lengthOfTitle ? `${line.slice(0, lengthOfTitle - 1)}…` : line || "New chat";
}

/** Returns true if an answer consists of an error only. Such answers are not sent with later messages. */
export const isUnanswered = (answer) =>
  Boolean(answer?.error) && !answer.content && !answer.reasoning && !answer.calls;

/** Returns the messages of a request for a message. */
function asSent(message, thinks) {
  const { role } = message;
  if (role === "tool") return sentResults(message);
  if (role !== "assistant") return [{ role, content: textWithFiles(message, true) }];
  const { reasoning, text } = splitReasoning(message, thinks);
  const thoughts = reasoning ? { reasoning_content: reasoning } : {};
  return [{ role, content: text, ...thoughts, ...sentCalls(message) }];
}

/** Returns an answer to be continued, with the parts that the server sent. */
const asBegun = ({ role, content, reasoning }) =>
  reasoning ? { role, content, reasoning_content: reasoning } : { role, content };

/** Adds a message to those to be sent. Merges consecutive user messages, since chat templates require alternating roles. */
function addSent(sent, message) {
  const last = sent.at(-1);
  if (message.role === "user" && last?.role === "user") last.content += `\n\n${message.content}`;
  else sent.push(message);
}

/**
 * Returns the messages that request an answer to `end`, beginning with the system prompt. If `end` is an answer, it is
 * to be continued and sent unchanged. thinks: see splitReasoning.
 */
export function messagesTo(conversation, end, thinks) {
  const path = pathTo(conversation, end.id);
  const sent = conversation.system.trim() ? [{ role: "system", content: conversation.system }] : [];
  for (const [i, message] of path.entries()) {
    if (isUnanswered(message) || (message.role === "user" && isUnanswered(path[i + 1]))) continue;
    const continued = message === end && message.role === "assistant";
    for (const one of continued ? [asBegun(message)] : asSent(message, thinks)) addSent(sent, one);
  }
  return sent;
}

/** Marks answers that were being streamed when the page was closed as interrupted. */
export function settle(conversation) {
  for (const message of Object.values(conversation.messages)) {
    if (message.role === "assistant" && message.finish === null) message.finish = "interrupted";
  }
  return conversation;
}
