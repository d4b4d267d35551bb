// Renders Markdown as safe HTML: tags in the text are shown literally, images become links (nothing is loaded), and the
// result is sanitized by DOMPurify.
import DOMPurify from "dompurify";
import { Marked } from "marked";
import { escaped, highlighted } from "./highlight.js";
import { formulas } from "./math.js";

const mayLead = /^(?:https?|mailto):/i;

// prettier-ignore
const tags = [
  "a", "blockquote", "br", "button", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "input", "li", "ol",
  "p", "pre", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
];
// prettier-ignore
const attributes = [
  "align", "aria-label", "checked", "class", "data-copy", "data-tex", "disabled", "rel", "start", "tabindex", "target", "type",
];
const allowed = {
  ALLOWED_TAGS: tags,
  ALLOWED_ATTR: ["href", ...attributes],
  ADD_URI_SAFE_ATTR: attributes,
  ALLOWED_URI_REGEXP: mayLead,
};

/** Renders a link that opens in another tab without access to this page. Schemes other than web schemes are removed. */
function link(href, text) {
  if (!mayLead.test(href)) return text;
  return `<a href="${escaped(href)}" target="_blank" rel="noopener noreferrer">${text}</a>`;
}

const renderer = {
  code({ text, lang = "" }) {
    const language = lang.trim().split(/\s/)[0];
    return (
      `<div class="code"><div class="bar"><span>${escaped(language || "text")}</span>` +
      '<button type="button" data-copy="code" aria-label="Copy code">Copy</button></div>' +
      `<pre tabindex="0"><code>${highlighted(text, language)}</code></pre></div>`
    );
  },
  checkbox({ checked }) {
    const state = checked ? 'aria-label="done" checked' : 'aria-label="to be done"';
    return `<input type="checkbox" disabled ${state}> `;
  },
  html({ text }) {
    return /^<br\s*\/?>$/i.test(text.trim()) ? "<br>" : escaped(text);
  },
  link({ href, tokens }) {
    return link(href, this.parser.parseInline(tokens));
  },
  image({ href, text }) {
    return link(href, escaped(text || href));
  },
};

// Tags are treated as inline text and never as a block that ends Markdown.
const tokenizer = { html: () => undefined };
const marked = new Marked({ gfm: true, breaks: true, renderer, tokenizer }, formulas);
const mostKept = 400;
const kept = new Map();

function htmlOf(block) {
  const known = kept.get(block.raw);
  if (known !== undefined) return known;
  const html = DOMPurify.sanitize(marked.parser([block]), allowed);
  if (kept.size >= mostKept) kept.delete(kept.keys().next().value);
  kept.set(block.raw, html);
  return html;
}

/**
 * Splits a text into blocks (paragraphs, lists, code …), each as HTML with the range of its source. While a text grows, only
 * its last block changes.
 */
export function blocksOf(text) {
  let end = 0;
  const blocks = marked.lexer(text).map((block) => {
    const begin = end;
    end += block.raw.length;
    return { block, begin, end };
  });
  return blocks
    .filter(({ block }) => block.type !== "space")
    .map(({ block, begin, end }) => ({ html: htmlOf(block), begin, end }));
}
