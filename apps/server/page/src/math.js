// LaTeX formulas: extracted before Markdown interprets their characters, and rendered by KaTeX.
import katex from "katex";
import "katex/contrib/copy-tex";
import { Tokenizer } from "marked";
import { escaped } from "./highlight.js";

// The body of a formula: no blank line, no closing delimiter; a backslash escapes the next character.
const noBlankLine = String.raw`(?!\n[ \t]*\n)`;
const until = (closing) => String.raw`(?:${noBlankLine}[^\\]|\\(?!${closing})[\s\S])+?`;
const untilDollar = String.raw`(?:${noBlankLine}[^\\$]|\\[\s\S])+?`;

const brackets = String.raw`\\\[(?<brackets>${until(String.raw`\]`)})\\\]`;
const dollars = String.raw`\$\$(?<dollars>${untilDollar})\$\$`;
const parentheses = String.raw`\\\((?<parentheses>${until(String.raw`\)`)})\\\)`;
// A dollar sign is a delimiter if it touches its formula and no word or number outside. A number followed by words
// without an operator is not a formula, so that prices stay text.
const price = String.raw`[\d.,]+\s[^=+*/^_\\<>$-]*\$`;
const dollar = String.raw`\$(?![\s$]|${price})(?<dollar>(?:[^\\$\n${"`"}]|\\.)+?)(?<!\s)\$(?![\w$])`;

const block = new RegExp(`^ {0,3}(?:${brackets}|${dollars})[ \\t]*(?:\\n+|$)`);
const inline = new RegExp(`^(?:${brackets}|${dollars}|${parentheses}|${dollar})`);
const anywhere = new RegExp(`${brackets}|${dollars}|${parentheses}|(?<![\\w$\\\\])${dollar}`, "g");

function tokenOf(type, match) {
  if (!match) return undefined;
  const { brackets, dollars, parentheses, dollar } = match.groups;
  const display = brackets ?? dollars;
  return {
    type,
    raw: match[0],
    text: (display ?? parentheses ?? dollar).trim(),
    display: display !== undefined,
  };
}

const renderer = ({ raw, text, display }) =>
  `<span class="${display ? "math display" : "math"}" data-tex="${escaped(text)}">${escaped(raw.trim())}</span>`;

/** Extensions of marked for display and inline formulas. */
const extensions = [
  {
    name: "formula",
    level: "block",
    start: (source) => {
      const at = source.search(/\n {0,3}(?:\\\[|\$\$)/);
      return at < 0 ? undefined : at + 1;
    },
    tokenizer: (source) => tokenOf("formula", block.exec(source)),
    renderer: (token) => `<p>${renderer(token)}</p>`,
  },
  {
    name: "inlineFormula",
    level: "inline",
    start: (source) => source.match(/\\[([]|\$/)?.index,
    tokenizer(source, before) {
      const match = inline.exec(source);
      if (match?.groups.dollar !== undefined && /[\w$]$/.test(before.at(-1)?.raw ?? "")) return undefined;
      return tokenOf("inlineFormula", match);
    },
    renderer,
  },
];

/** Cache of masked texts without formulas and where the search for formulas began; small, since texts nest. */
const searched = new Map();

/** Returns the paragraph that marked has masked, with formulas replaced by letters. `source` is its rest. */
function withoutFormulas(source, masked) {
  const begin = masked.length - source.length;
  const known = searched.get(masked);
  if (known && begin >= known.begin) return known.text;
  const parts = [masked.slice(0, begin)];
  let end = 0;
  for (const { index, 0: raw } of source.matchAll(anywhere)) {
    parts.push(masked.slice(begin + end, begin + index), "a".repeat(raw.length));
    end = index + raw.length;
  }
  const text = parts.join("") + masked.slice(begin + end);
  searched.delete(masked);
  if (searched.size >= 8) searched.delete(searched.keys().next().value);
  searched.set(masked, { begin, text });
  return text;
}

/** Prevents emphasis markers inside a formula from closing an emphasis that began before it. */
function emStrong(source, masked, previous) {
  return Tokenizer.prototype.emStrong.call(this, source, withoutFormulas(source, masked), previous);
}

export const formulas = { extensions, tokenizer: { emStrong } };

/**
 * Renders the formulas of an element. Elements are created individually, since the page's Content-Security-Policy forbids
 * styles in HTML. A formula with an error is shown unchanged.
 */
export function drawFormulas(element) {
  for (const one of element.querySelectorAll(".math")) {
    const drawn = document.createElement("span");
    try {
      katex.render(one.dataset.tex, drawn, {
        displayMode: one.classList.contains("display"),
        strict: "ignore",
        maxSize: 20,
        maxExpand: 1000,
      });
      one.replaceChildren(...drawn.childNodes);
    } catch (failed) {
      one.classList.add("wrong");
      one.title = failed.message;
    }
  }
}
