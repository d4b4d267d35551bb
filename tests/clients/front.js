// A reverse proxy that forwards everything except the answers that a test writes itself, in pieces.
import http from "node:http";

const event = (data) => `data: ${JSON.stringify(data)}\n\n`;

/** An answer that the test writes. `body` is the parsed request; `closed` resolves on disconnection. */
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

  /** Sends a piece of the text; `fields` adds other members to the delta. */
  write(content, fields = {}) {
    this.#send({ choices: [{ index: 0, delta: { content, ...fields }, finish_reason: null }], usage: null });
  }

  /** Sends a piece of a call of a tool. */
  call(piece) {
    this.write(null, { tool_calls: [piece] });
  }

  /** Sends the progress of the prefill. */
  read(prompt_progress) {
    const delta = { role: "assistant", content: null };
    this.#send({ choices: [{ index: 0, delta, finish_reason: null }], prompt_progress, usage: null });
  }

  /** Sends tokens with details as a server does: strings are from the target; pairs are [text, source]. */
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

  /** Ends the completion. `total` is the number of tokens of prompt and completion. */
  end(finish_reason = "stop", total = 30) {
    this.#send({ choices: [{ index: 0, delta: {}, finish_reason }], usage: null });
    this.#send({
      choices: [],
      usage: { prompt_tokens: 20, completion_tokens: total - 20, total_tokens: total },
    });
    this.#response.end("data: [DONE]\n\n");
  }

  /** Sends a complete answer. */
  say(text, ...ending) {
    this.write(text);
    this.end(...ending);
  }

  /** Sends an error in the middle of the text. */
  fail(message) {
    this.#response.end(event({ error: { code: 503, message, type: "unavailable_error" } }));
  }

  /** Sends an error response instead of text. */
  refuse(status, message, type = "invalid_request_error") {
    this.#response.writeHead(status, { "Content-Type": "application/json" });
    this.#response.end(JSON.stringify({ error: { code: status, message, type } }));
  }

  /** Closes the connection abruptly, like a killed server. */
  breakOff() {
    this.#response.destroy();
  }
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Starts a proxy before `address`. */
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
    /** Returns the answer to the next request for a completion. Rejects if there is none within a minute. */
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
