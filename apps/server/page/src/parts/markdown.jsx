import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { colourBlock, TokenText } from "../colouring.js";
import { blocksOf } from "../markdown.js";
import { drawFormulas } from "../math.js";

/** A block of Markdown. source: TokenText that colours its range from `begin` to `end`, or undefined. */
function Block({ html, source, begin, end }) {
  const block = useRef();
  useLayoutEffect(() => {
    block.current.innerHTML = html; // sanitized by DOMPurify
    if (source) colourBlock(block.current, source, begin, end);
    drawFormulas(block.current);
  }, [html, source && Math.min(source.text.length, end)]);
  return <div ref={block} />;
}

export function Markdown({ text }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div class="markdown">
      {blocks.map(({ html }, i) => (
        <Block key={i} html={html} />
      ))}
    </div>
  );
}

/** Markdown coloured by its tokens. */
export function ColouredMarkdown({ text, tokens }) {
  const count = tokens.length;
  const source = useMemo(() => new TokenText(tokens), [tokens, count]);
  const blocks = useMemo(() => blocksOf(text), [text]);
  const base = Math.max(source.text.lastIndexOf(text), 0);
  return (
    <div class="markdown coloured">
      {blocks.map(({ html, begin, end }, i) => (
        <Block key={`${i} ${base}`} html={html} source={source} begin={base + begin} end={base + end} />
      ))}
    </div>
  );
}
