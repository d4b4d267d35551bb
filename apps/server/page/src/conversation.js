// A conversation is a tree of messages: an edited message, or an answer that was written again, stands beside the old one,
// and nothing is lost. `leaf` is the end of the branch that is shown.
//
// A message of the user may have `files` (see text_files.js).
//
// A message of the assistant also has `finish` (why it ended; null while it is written), `error`, `usage`, `seed`, `tokens`
// and `totals` (see drafting.js). `edited`: the user wrote it, or the beginning of it.
import { splitReasoning } from "./reasoning.js";
import { textWithFiles } from "./text_files.js";

/** An id that nothing else has; also where the browser has no crypto.randomUUID, as on plain HTTP. */
export function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

/** mode: "chat", where the model sees the whole branch, or "completion", where it goes on with the last message. */
export function newConversation(mode, system) {
  const now = Date.now();
  return { id: newId(), title: "", created: now, changed: now, mode, system, leaf: null, messages: {} };
}

/** Adds a message below `parent` (an id, or null) and shows it. */
export function addMessage(conversation, parent, fields) {
  const message = { id: newId(), parent, created: Date.now(), ...fields };
  conversation.messages[message.id] = message;
  conversation.leaf = message.id;
  return message;
}

/** The messages from the first one to `end`. */
export function pathTo(conversation, end = conversation.leaf) {
  const path = [];
  for (let at = conversation.messages[end]; at; at = conversation.messages[at.parent]) path.unshift(at);
  return path;
}

const childrenOf = (conversation, id) =>
  Object.values(conversation.messages).filter((one) => one.parent === id);

/** The message and those that stand beside it, oldest first. */
export function siblingsOf(conversation, message) {
  return childrenOf(conversation, message.parent);
}

/** Shows the branch that goes through this message, to its newest end. */
export function showBranch(conversation, message) {
  let end = message;
  for (let below = end; below; below = childrenOf(conversation, end.id).at(-1)) end = below;
  conversation.leaf = end.id;
}

/** Removes a message and all that follow it. Shows the version beside it, or else what comes before. Returns how many are gone. */
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

/** What the user called it, else the beginning of its first message. */
export function titleOf(conversation) {
  if (conversation.title) return conversation.title;
  const first = pathTo(conversation).find((message) => message.role === "user");
  const line = (first?.content.trim() || first?.files?.[0].name || "").replace(/\s+/g, " ");
  return line.length > lengthOfTitle ? `${line.slice(0, lengthOfTitle - 1)}…` : line || "New chat";
}

/** Whether nothing came of it but an error: it is not sent with later messages. */
export const isUnanswered = (answer) => Boolean(answer?.error) && !answer.content && !answer.reasoning;

function asSent(message, thinks) {
  const { role } = message;
  if (role !== "assistant") return { role, content: textWithFiles(message, true) };
  const { reasoning, text } = splitReasoning(message, thinks);
  return reasoning ? { role, content: text, reasoning_content: reasoning } : { role, content: text };
}

/** An answer that is to be continued, in the parts in which the server sent it. */
const asBegun = ({ role, content, reasoning }) =>
  reasoning ? { role, content, reasoning_content: reasoning } : { role, content };

/** Adds a message to those that are sent. Chat templates want turns to alternate, so that questions without an answer are one. */
function addSent(sent, message) {
  const last = sent.at(-1);
  if (message.role === "user" && last?.role === "user") last.content += `\n\n${message.content}`;
  else sent.push(message);
}

/**
 * The messages that ask for an answer to `end`, the system prompt first. Where `end` is an answer itself it is to be
 * continued, and is sent as it was written. thinks: see splitReasoning.
 */
export function messagesTo(conversation, end, thinks) {
  const path = pathTo(conversation, end.id);
  const sent = conversation.system.trim() ? [{ role: "system", content: conversation.system }] : [];
  for (const [i, message] of path.entries()) {
    if (isUnanswered(message) || isUnanswered(path[i + 1])) continue;
    const continued = message === end && message.role === "assistant";
    addSent(sent, continued ? asBegun(message) : asSent(message, thinks));
  }
  return sent;
}

/** Answers that were being written when the page was closed will not go on. */
export function settle(conversation) {
  for (const message of Object.values(conversation.messages)) {
    if (message.role === "assistant" && message.finish === null) message.finish = "interrupted";
  }
  return conversation;
}
