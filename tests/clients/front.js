// A server before the server: it passes everything on, but for the answers that a test writes itself, piece by piece.
import http from "node:http";

const event = (data) => `data: ${JSON.stringify(data)}\n\n`;

/** An answer that the test writes. `body` is what was asked, `closed` is fulfilled once the client has gone. */
class ScriptedAnswer {
  #response;

  constructor(request, body, response) {
    this.body = JSON.parse(body);
    this.headers = request.headers;
    this.closed = new Promise((resolve) => response.on("close", resolve));
    this.#response = response;
  }

  #send(data) {
    if (!this.#response.headersSent) this.#response.writeHead(200, { "Content-Type": "text/event-stream" });
    this.#response.write(event(data));
  }

  /** A piece of the text, or with `fields` of anything else that a delta may hold. */
  write(content, fields = {}) {
    this.#send({ choices: [{ index: 0, delta: { content, ...fields }, finish_reason: null }], usage: null });
  }

  /** How far the prompt has been read. */
  read(prompt_progress) {
    const delta = { role: "assistant", content: null };
    this.#send({ choices: [{ index: 0, delta, finish_reason: null }], prompt_progress, usage: null });
  }

  /** Tokens, with what a server tells of each: texts, which come from the target, or pairs of a text and its source. */
  writeTokens(...tokens) {
    const told = { draft_probability: null, target_probability: 0.5, block: 0, elapsed_ms: 1 };
    const pairs = tokens.map((token) => (Array.isArray(token) ? token : [token, "target"]));
    const token_details = pairs.map(([text, source]) => ({ text, source, ...told }));
    const texts = pairs.map(([text]) => text);
    this.#send({
      choices: [{ index: 0, delta: { content: texts.join("") }, token_details, finish_reason: null }],
      usage: null,
    });
  }

  /** Ends the text; total: the tokens of prompt and text. */
  end(finish_reason = "stop", total = 30) {
    this.#send({ choices: [{ index: 0, delta: {}, finish_reason }], usage: null });
    this.#send({
      choices: [],
      usage: { prompt_tokens: 20, completion_tokens: total - 20, total_tokens: total },
    });
    this.#response.end("data: [DONE]\n\n");
  }

  /** A whole answer. */
  say(text, ...ending) {
    this.write(text);
    this.end(...ending);
  }

  /** An error in the middle of the text. */
  fail(message) {
    this.#response.end(event({ error: { code: 503, message, type: "unavailable_error" } }));
  }

  /** An error instead of a text. */
  refuse(status, message, type = "invalid_request_error") {
    this.#response.writeHead(status, { "Content-Type": "application/json" });
    this.#response.end(JSON.stringify({ error: { code: status, message, type } }));
  }

  /** Ends the connection, as a server does that was killed. */
  breakOff() {
    this.#response.destroy();
  }
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Starts one before `address`. */
export async function front(address) {
  const waiting = [];
  const server = http.createServer(async (request, response) => {
    const body = await bodyOf(request);
    if (request.method === "POST" && waiting.length)
      return waiting.shift()(new ScriptedAnswer(request, body, response));
    const headers = { ...request.headers, host: new URL(address).host };
    if (headers.origin) headers.origin = address;
    const onward = http.request(address + request.url, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    response.on("close", () => onward.destroy());
    onward.on("error", () => response.destroy());
    onward.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    /** The answer to the next request for a text. Fails where none comes. */
    next: () =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error("nothing was asked for a minute")), 60_000);
        waiting.push((answer) => {
          clearTimeout(late);
          resolve(answer);
        });
      }),
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
