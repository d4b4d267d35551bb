// What a model thinks before it speaks: a field of its own (`reasoning_content`), or the beginning of its text between tags.
const opening = "<think>";
const closing = "</think>";

/**
 * Splits an answer into `reasoning` and `text`. thinks: whether the model's chat template knows the tags; it may have
 * written the opening one itself, so that only the closing one is part of the answer.
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
