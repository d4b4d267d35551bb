// Colours rendered Markdown by tokens. Markdown drops some characters of its source but preserves their order, so a parallel
// walk along both finds the token of each visible character.
import { sourceOf, textOf } from "./drafting.js";

/** The text of an answer with a map from characters to tokens. */
export class TokenText {
  constructor(tokens) {
    this.tokens = tokens;
    this.text = tokens.map(textOf).join("");
    let end = 0;
    this.ends = tokens.map((token) => (end += textOf(token).length));
  }

  /** Returns the index of the token that contains a character. */
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

/** Yields the nodes to be coloured: texts and whole formulas, but no elements that the page adds. */
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

/** Walks along the source of a block from `at` to `end`. */
class Walk {
  constructor(source, at, end) {
    Object.assign(this, { source, at, end });
  }

  /** Returns the source position of a rendered character; null if it is not from the source. */
  find(character) {
    const { text } = this.source;
    const place = text.indexOf(character, this.at);
    if (place < 0 || place >= this.end) return null;
    // The page may have added a blank: it counts only right after the last character, or after markers of emphasis.
    if (!character.trim() && !/^[*_~`]*$/.test(text.slice(this.at, place))) return null;
    this.at = place + 1;
    return place;
  }

  /** Returns the position of a part of the source that is rendered as one element; null if it is not found. */
  findAll(raw) {
    const place = this.source.text.indexOf(raw, this.at);
    if (place < 0 || place >= this.end) return null;
    this.at = place + raw.length;
    return place;
  }
}

/** Splits a rendered text into parts with the index of their token or null. */
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

/** Colours a formula by its first token. */
function colourFormula(node, walk) {
  const place = walk.findAll(node.dataset.tex);
  if (place !== null) colour(node, walk.source.tokens, walk.source.at(place));
}

/** Colours the element that was rendered from the source between `begin` and `end`. */
export function colourBlock(element, source, begin, end) {
  const walk = new Walk(source, begin, end);
  for (const node of [...leavesOf(element)]) {
    if (node.nodeType !== Node.TEXT_NODE) colourFormula(node, walk);
    else if (!isBlank(node)) colourText(node, walk);
  }
}
