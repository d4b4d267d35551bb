// Conversations in the browser's IndexedDB. List entries are stored separately, so that only open conversations are
// read. If the browser has no storage (some private windows), conversations are kept in memory.

const stores = ["list", "conversations"];
const memory = new Map();
const others = "BroadcastChannel" in self ? new BroadcastChannel("spectr.conversations") : null;
let database = null;

const finished = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

const committed = (transaction) =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = transaction.onerror = () => reject(transaction.error);
  });

/** Opens the store. Calls `tell` with ids of conversations changed by other tabs. Returns false without storage. */
export async function openStore(tell) {
  if (others) others.onmessage = (message) => tell(message.data);
  try {
    const request = indexedDB.open("spectr", 1);
    request.onupgradeneeded = () => {
      for (const name of stores) request.result.createObjectStore(name, { keyPath: "id" });
    };
    database = await finished(request);
    database.onversionchange = () => database.close();
  } catch {
    database = null;
  }
  return database !== null;
}

const newestFirst = (list) => list.sort((a, b) => b.changed - a.changed);

/** Returns id, title and time of all conversations, newest first. */
export async function listed() {
  if (!database) return newestFirst([...memory.values()].map((one) => one.entry));
  return newestFirst(await finished(database.transaction("list").objectStore("list").getAll()));
}

/** Returns the conversation; undefined if it does not exist. */
export async function loaded(id) {
  if (!database) return memory.get(id)?.conversation;
  return finished(database.transaction("conversations").objectStore("conversations").get(id));
}

const contains = ({ messages }, needle) =>
  Object.values(messages).some((message) => message.content.toLowerCase().includes(needle));

/** Returns the ids of conversations whose messages contain the needle. Requires: needle in lower case. */
export async function idsContaining(needle) {
  const ids = new Set();
  const look = (conversation) => contains(conversation, needle) && ids.add(conversation.id);
  if (!database) {
    for (const { conversation } of memory.values()) look(conversation);
    return ids;
  }
  const request = database.transaction("conversations").objectStore("conversations").openCursor();
  await new Promise((resolve, reject) => {
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      const cursor = request.result;
      if (!cursor) return resolve();
      look(cursor.value);
      cursor.continue();
    };
  });
  return ids;
}

async function put(conversation, entry) {
  const transaction = database.transaction(stores, "readwrite");
  const done = committed(transaction);
  try {
    transaction.objectStore("list").put(entry);
    transaction.objectStore("conversations").put(conversation);
    transaction.commit(); // immediately, since the page may be closing
  } catch (failed) {
    done.catch(() => {});
    throw failed;
  }
  return done;
}

function withoutTokens(conversation) {
  const messages = Object.entries(conversation.messages).map(([id, { tokens, ...rest }]) => [id, rest]);
  return { ...conversation, messages: Object.fromEntries(messages) };
}

/**
 * Stores a conversation under its title in the list. If there is not enough space, stores it without token details;
 * throws if that fails, too.
 */
export async function keep(conversation, title) {
  const entry = { id: conversation.id, title, changed: conversation.changed };
  if (!database) {
    memory.set(conversation.id, { conversation, entry });
    return;
  }
  try {
    await put(conversation, entry);
  } catch {
    await put(withoutTokens(conversation), entry);
  }
  others?.postMessage(conversation.id);
}

export async function forget(id) {
  memory.delete(id);
  if (!database) return;
  const transaction = database.transaction(stores, "readwrite");
  for (const name of stores) transaction.objectStore(name).delete(id);
  await committed(transaction);
  others?.postMessage(id);
}
