// JSON as people read it.

const word = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const mostLevels = 32; // that are indented, so that deep nesting does not make a text long

/** Returns a JSON object or list with one member a line, and every value as it is written; null for any other text. */
export function indented(text) {
  if (!/^\s*[{[]/.test(text)) return null;
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const words = text.match(word);
  let level = 0;
  const line = () => `\n${"  ".repeat(Math.min(level, mostLevels))}`;
  const opens = (i) => words[i] === "{" || words[i] === "[";
  const closes = (i) => words[i] === "}" || words[i] === "]";
  return words
    .map((one, i) => {
      if (closes(i)) {
        level -= 1;
        return opens(i - 1) ? one : line() + one;
      }
      if (opens(i)) {
        level += 1;
        return closes(i + 1) ? one : one + line();
      }
      if (one === ",") return one + line();
      return one === ":" ? ": " : one;
    })
    .join("");
}
