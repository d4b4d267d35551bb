// Operations on conversations: open, store, rename, clear, delete. Deletions can be undone for some time.
import { newConversation, removeMessage, settle, titleOf } from "./conversation.js";
import { saveSettings } from "./settings.js";
import { changed, state, update } from "./state.js";
import { forget, idsContaining, keep, listed, loaded } from "./store.js";

const noticeTime = 12_000; // milliseconds
const searchDelay = 150; // milliseconds
const openedLast = "spectr.conversation";

/** Shows a notice for some time. `act` is the action of its button. */
export function tell(text, action, act) {
  const notice = { text, action, act };
  setTimeout(() => state.notice === notice && update({ notice: null }), noticeTime);
  update({ notice });
}

export async function refreshList() {
  update({ list: await listed() });
}

/** Stores the conversation in the browser, unless it is empty or deleted. Shows a notice if there is no space. */
export async function preserve(conversation) {
  if (conversation.deleted) return;
  conversation.changed = Date.now();
  const empty = !conversation.leaf && !conversation.title;
  try {
    await (empty ? forget(conversation.id) : keep(conversation, titleOf(conversation)));
  } catch {
    tell(
      "The browser has no room for this conversation: it is lost when the page is closed. Export it, or delete others.",
    );
  }
  await refreshList();
}

/** Stops the answer that is being streamed in this conversation. */
export function stopAnswer(conversation) {
  state.running.get(conversation.id)?.controller.abort();
}

const unkept = new Map();

function show(conversation) {
  const { current, unsent, files } = state;
  if (current && (unsent.trim() || files.length)) unkept.set(current.id, { unsent, files });
  update({
    current: conversation,
    unsent: "",
    files: [],
    ...unkept.get(conversation.id),
    editing: null,
    renaming: false,
    chosen: null,
  });
  unkept.delete(conversation.id);
  if (state.narrow) update({ sidebar: false });
  try {
    sessionStorage.setItem(openedLast, conversation.id);
  } catch {
    // Without storage, the page starts with a new conversation.
  }
}

/** Starts an empty conversation. It is stored with its first message. */
export function startConversation() {
  show(newConversation(state.current?.mode ?? "chat", state.settings.system));
}

export async function openConversation(id) {
  const open = state.current?.id === id ? state.current : state.running.get(id)?.conversation;
  const conversation = open ?? (await loaded(id));
  if (conversation) show(open ?? settle(conversation));
}

/** Opens the conversation that was open before a reload, or an empty one. */
export async function openLast() {
  let id = null;
  try {
    id = sessionStorage.getItem(openedLast);
  } catch {
    // The browser provides no storage.
  }
  if (id) await openConversation(id);
  if (!state.current) startConversation();
}

/** Handles a change of a conversation by another tab. */
export async function changedElsewhere(id) {
  await refreshList();
  if (state.current?.id !== id || state.running.has(id)) return;
  const conversation = await loaded(id);
  if (!conversation) return startConversation();
  if (state.editing === null && state.current.id === id) update({ current: conversation });
}

export function rename(conversation, title) {
  conversation.title = title.trim();
  update({ renaming: false });
  return preserve(conversation);
}

/** Removes all messages. */
export async function clear(conversation) {
  stopAnswer(conversation);
  const { messages, leaf } = conversation;
  Object.assign(conversation, { messages: {}, leaf: null });
  if (!leaf) return changed();
  tell("The conversation is cleared.", "Undo", () => {
    Object.assign(conversation, { messages, leaf });
    return preserve(conversation);
  });
  await preserve(conversation);
}

/** Deletes a message and its descendants. */
export async function deleteMessage(conversation, message) {
  const { messages, leaf } = conversation;
  const count = removeMessage(conversation, message);
  const text = count > 1 ? `The message and ${count - 1} after it are deleted.` : "The message is deleted.";
  tell(text, "Undo", () => {
    Object.assign(conversation, { messages: { ...messages, ...conversation.messages }, leaf });
    return preserve(conversation);
  });
  await preserve(conversation);
}

let due = null;

/** Searches the list: titles immediately, messages after a short delay. */
export function search(query) {
  clearTimeout(due);
  update({ query, found: null });
  const needle = query.trim().toLowerCase();
  if (!needle) return;
  due = setTimeout(async () => {
    const found = await idsContaining(needle);
    if (state.query === query) update({ found });
  }, searchDelay);
}

/** Returns the part of the list that matches the search. */
export function listFound() {
  const needle = state.query.trim().toLowerCase();
  return state.list.filter(({ id, title }) => title.toLowerCase().includes(needle) || state.found?.has(id));
}

export async function deleteConversation(id) {
  const open = state.current?.id === id;
  const conversation = open ? state.current : (state.running.get(id)?.conversation ?? (await loaded(id)));
  if (!conversation) return;
  stopAnswer(conversation);
  conversation.deleted = true;
  await forget(id);
  await refreshList();
  if (open) startConversation();
  tell(`“${titleOf(conversation)}” is deleted.`, "Undo", async () => {
    delete conversation.deleted;
    await preserve(conversation);
    show(conversation);
  });
}

/** Changes and stores settings. */
export function changeSettings(change) {
  Object.assign(state.settings, change);
  saveSettings(state.settings);
  changed();
}
