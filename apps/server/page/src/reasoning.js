// Reasoning of a model: a separate field (`reasoning_content`), or the beginning of its text between tags.
const opening = "<think>";
const closing = "</think>";

/**
 * Splits an answer into `reasoning` and `text`. thinks: the model's chat template uses the tags; it may have written
 * the opening tag itself, so that the answer contains only the closing one.
 */
export function splitReasoning({ content, reasoning = "", finish }, thinks) {
  if (reasoning) return { reasoning, text: content };
  const start = content.trimStart();
  const opened = start.startsWith(opening);
  const halfTag = finish === null && start && opening.startsWith(start);
  if (!opened && halfTag) return { reasoning: "", text: "" };
  const end = opened || thinks ? start.indexOf(closing) : -1;
  if (!opened && end < 0) return { reasoning: "", text: content };
  const begin = opened ? opening.length : 0;
  if (end < 0) return { reasoning: start.slice(begin).trim(), text: "" };
  return { reasoning: start.slice(begin, end).trim(), text: start.slice(end + closing.length).trimStart() };
}
