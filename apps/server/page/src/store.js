// Conversations in the browser's IndexedDB: what the list shows apart from the conversations themselves, of which only
// those that are open are read. Where the browser keeps nothing (some private windows) they live as long as the page.

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

/** Opens it, and calls `tell` with the id of what another tab has changed. False: nothing outlives the page. */
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

/** Id, title and time of every conversation, newest first. */
export async function listed() {
  if (!database) return newestFirst([...memory.values()].map((one) => one.entry));
  return newestFirst(await finished(database.transaction("list").objectStore("list").getAll()));
}

/** The conversation; undefined where there is none. */
export async function loaded(id) {
  if (!database) return memory.get(id)?.conversation;
  return finished(database.transaction("conversations").objectStore("conversations").get(id));
}

const contains = ({ messages }, needle) =>
  Object.values(messages).some((message) => message.content.toLowerCase().includes(needle));

/** The ids of the conversations in whose messages the needle occurs, which is in lower case. */
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
    transaction.commit(); // at once, as the page may be closing
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
 * Keeps a conversation under the title that the list shows. Where there is no room for all of it, its texts are kept
 * without where each token came from; throws where there is none for these either.
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
