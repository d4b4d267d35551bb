// Rendered Markdown in the colours of tokens. Markdown leaves signs of its source out but keeps the order of its characters,
// so that walking along both finds the token of each character that is shown.
import { sourceOf, textOf } from "./drafting.js";

/** The characters of an answer with the tokens that they came from. */
export class TokenText {
  constructor(tokens) {
    this.tokens = tokens;
    this.text = tokens.map(textOf).join("");
    let end = 0;
    this.ends = tokens.map((token) => (end += textOf(token).length));
  }

  /** The index of the token that wrote a character. */
  at(place) {
    let [low, high] = [0, this.ends.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ends[middle] > place) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** The nodes that have a colour: texts, and formulas as a whole. Signs of the page itself have none. */
function* leavesOf(node) {
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) yield child;
    else if (child.matches(".math")) yield child;
    else if (!child.matches(".bar")) yield* leavesOf(child);
  }
}

const isBlank = (node) => !node.data.trim() && !node.parentElement.closest("pre");

function colour(element, tokens, index) {
  element.classList.add("token", sourceOf(tokens[index]));
  element.dataset.index = index;
}

/** Goes along the source of a block from `at` to `end`. */
class Walk {
  constructor(source, at, end) {
    Object.assign(this, { source, at, end });
  }

  /** The place of a character of the rendered text; null if it is none of the source's. */
  find(character) {
    const { text } = this.source;
    const place = text.indexOf(character, this.at);
    if (place < 0 || place >= this.end) return null;
    // A rendered blank may be the page's own: it counts only next to the character before, or after the end of emphasis.
    if (!character.trim() && !/^[*_~`]*$/.test(text.slice(this.at, place))) return null;
    this.at = place + 1;
    return place;
  }

  /** The places of a part of the source that stands for one thing. */
  findAll(raw) {
    const place = this.source.text.indexOf(raw, this.at);
    if (place < 0 || place >= this.end) return null;
    this.at = place + raw.length;
    return place;
  }
}

/** Parts of a rendered text, each with the index of its token or null. */
function partsOf(text, walk) {
  const parts = [];
  for (const character of text.split("")) {
    const place = walk.find(character);
    const index = place === null ? null : walk.source.at(place);
    const last = parts.at(-1);
    if (last?.index === index) last.text += character;
    else parts.push({ index, text: character });
  }
  return parts;
}

function colourText(node, walk) {
  const parts = partsOf(node.data, walk).map(({ index, text }) => {
    if (index === null) return text;
    const span = document.createElement("span");
    span.textContent = text;
    colour(span, walk.source.tokens, index);
    return span;
  });
  node.replaceWith(...parts);
}

/** A formula has the colour of its first token with a sign of the formula itself. */
function colourFormula(node, walk) {
  const place = walk.findAll(node.dataset.tex);
  if (place !== null) colour(node, walk.source.tokens, walk.source.at(place));
}

/** Colours the element that shows the source from `begin` to `end`. */
export function colourBlock(element, source, begin, end) {
  const walk = new Walk(source, begin, end);
  for (const node of [...leavesOf(element)]) {
    if (node.nodeType !== Node.TEXT_NODE) colourFormula(node, walk);
    else if (!isBlank(node)) colourText(node, walk);
  }
}
