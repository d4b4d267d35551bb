// Text files in messages: reading and sending them.

const maxBytes = 1 << 20;
const controls = /[\0-\x06\x0e-\x1a]/; // control characters that text files do not contain

const isImage = ({ type }) => type.startsWith("image/") && type !== "image/svg+xml";

function decode(bytes) {
  const [first, second] = bytes;
  const wide =
    (first === 0xff && second === 0xfe && "utf-16le") || (first === 0xfe && second === 0xff && "utf-16be");
  const text = new TextDecoder(wide || "utf-8", { fatal: true }).decode(bytes);
  if (controls.test(text) || text.startsWith("%PDF-")) throw new Error("binary");
  return text.replace(/\r\n?/g, "\n");
}

/** Reads a text file as `{ name, text }`. Throws an Error with a user-facing message for any other file. */
export async function readTextFile(file) {
  const { name, size } = file;
  if (isImage(file)) throw new Error(`“${name}” is an image. Only text files can be attached.`);
  if (size > maxBytes)
    throw new Error(`“${name}” has ${sizeName(size)}. Files of up to 1 MB can be attached.`);
  const bytes = await file.arrayBuffer().catch(() => {
    throw new Error(`“${name}” cannot be read. Folders cannot be attached.`);
  });
  let text;
  try {
    text = decode(new Uint8Array(bytes));
  } catch {
    throw new Error(`“${name}” is a binary file. Only text files can be attached.`);
  }
  if (!text.trim()) throw new Error(`“${name}” is empty.`);
  return { name, text };
}

/** Formats a number of bytes. */
export function sizeName(bytes) {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Encloses the text in a fence longer than any fence in it. */
export function fenced(text, language) {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

function asBlock({ name, text }) {
  const language = name.match(/\.(\w{1,10})$/)?.[1] ?? "";
  return `File: ${name.replace(/\p{Cc}+/gu, " ")}\n\n${fenced(text, language)}`;
}

/** Returns the text of a user message preceded by its files: as named blocks in a chat, else unchanged. */
export function textWithFiles({ content, files = [] }, chat) {
  if (!chat) return [...files.map((file) => file.text), content].join("");
  return [...files.map(asBlock), content].filter((part) => part.trim()).join("\n\n");
}
