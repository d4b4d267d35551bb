// A proxy in front of a server that records the requests of a client:
//   node record.js ADDRESS FILE [--whole]
// It prints its own address and writes FILE after every answer. Prompts and descriptions belong to the client's
// authors, so texts are replaced by stand-ins; --whole keeps them, and the answers, for debugging.
import fs from "node:fs";
import http from "node:http";

const recorded = [
  "accept",
  "anthropic-beta",
  "anthropic-version",
  "authorization",
  "content-encoding",
  "content-type",
  "expect",
  "openai-beta",
  "transfer-encoding",
  "x-api-key",
];
const word = /^[\w.:/#$@+-]{0,64}$/;
const id = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32,}/g;
const header = /^x-[\w-]+: /; // lines that some clients put before their prompt

/** Returns the object or list that a text holds, or null. */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/** Returns a JSON value with stand-ins for its texts. Words, such as names, types and roles, stay. */
function shape(value) {
  if (Array.isArray(value)) return value.map(shape);
  if (value !== null && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shape(member)]));
  if (typeof value !== "string") return value;
  const inner = parsed(value);
  if (inner !== null) return JSON.stringify(shape(inner));
  const text = value.replace(id, (digits) => digits.replace(/[0-9a-f]/g, "0"));
  if (word.test(text)) return text;
  return `${text.match(header)?.[0] ?? ""}a text of ${value.length} characters`;
}

function headersOf(request) {
  const kept = recorded.filter((name) => name in request.headers).map((name) => [name, request.headers[name]]);
  const headers = Object.fromEntries(kept);
  if (headers.authorization) headers.authorization = "Bearer key";
  if (headers["x-api-key"]) headers["x-api-key"] = "key";
  return headers;
}

async function bytesOf(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const [address, file, ...flags] = process.argv.slice(2);
const whole = flags.includes("--whole");
const requests = [];

function save() {
  fs.writeFileSync(file, `[\n${requests.map((one) => JSON.stringify(one)).join(",\n")}\n]\n`);
}

const server = http.createServer(async (request, response) => {
  const bytes = await bytesOf(request);
  const entry = { method: request.method, path: request.url, headers: headersOf(request) };
  const body = parsed(bytes.toString());
  if (bytes.length > 0) entry.body = whole ? (body ?? bytes.toString()) : shape(body ?? bytes.toString());
  requests.push(entry);
  const headers = { ...request.headers, host: new URL(address).host };
  const onward = http.request(address + request.url, { method: request.method, headers }, (answer) => {
    entry.status = answer.statusCode;
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
    if (whole) {
      entry.answer = "";
      answer.on("data", (piece) => (entry.answer += piece));
    }
    answer.on("error", () => response.destroy());
    answer.on("close", save);
  });
  response.on("close", () => onward.destroy());
  onward.on("error", () => response.destroy());
  onward.end(bytes);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
