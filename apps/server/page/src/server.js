// Requests to the server. Paths are relative, so that the page also works below a path prefix of a proxy.

/** A failed request: HTTP status (0 if there was no answer), error type of the server, and message. */
export class Failure extends Error {
  constructor(message, { status = 0, type = "connection_error" } = {}) {
    super(message);
    Object.assign(this, { status, type });
  }

  static async of(response) {
    const body = await response.json().catch(() => null);
    const message = body?.error?.message ?? `The server answers with status ${response.status}.`;
    return new Failure(message, { status: response.status, type: body?.error?.type ?? "" });
  }
}

/** Sends a request. Throws a Failure if there is no answer. */
async function request(path, key, options = {}) {
  const headers = { "Content-Type": "application/json", ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  try {
    return await fetch(path, { ...options, headers });
  } catch (failed) {
    if (failed.name === "AbortError") throw failed;
    throw new Failure("The server cannot be reached.");
  }
}

/** Fetches an object. `wait` of a failure: seconds until a retry, if the server is not ready. */
export async function fetchObject(path, key) {
  const response = await request(path, key);
  if (response.ok) return response.json();
  const failure = await Failure.of(response);
  failure.wait = response.status === 503 ? +response.headers.get("Retry-After") || 1 : undefined;
  throw failure;
}

/** Begins to load one of several models. Throws a Failure. */
export async function loadModel(model, key) {
  const response = await request("models/load", key, { method: "POST", body: JSON.stringify({ model }) });
  if (!response.ok && response.status !== 400) throw await Failure.of(response); // 400: it is being loaded already
}

/** Yields the chunks of a response body. Throws a Failure if the connection breaks. */
async function* chunksOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((failed) => {
      throw failed.name === "AbortError" ? failed : new Failure("The connection to the server broke off.");
    });
    if (done) return;
    yield value;
  }
}

/** Yields the events of a stream as objects. Throws a Failure, or the AbortError of `signal`. */
export async function* streamOf(path, body, { key, signal }) {
  const response = await request(path, key, {
    method: "POST",
    body: JSON.stringify({ ...body, stream: true }),
    signal,
  });
  if (!response.ok) throw await Failure.of(response);
  let held = "";
  for await (const chunk of chunksOf(response)) {
    held += chunk;
    for (let end; (end = held.indexOf("\n\n")) >= 0; held = held.slice(end + 2)) {
      const line = held.slice(0, end);
      if (!line.startsWith("data: {")) continue;
      const event = JSON.parse(line.slice("data: ".length));
      if (event.error)
        throw new Failure(event.error.message, { status: event.error.code, type: event.error.type });
      yield event;
    }
  }
}
