import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { describe, sourceOf, textOf } from "../drafting.js";
import { ColouredMarkdown } from "./markdown.jsx";

const inGroup = 64;
const groups = new WeakMap(); // complete groups by list of tokens

/** Makes line breaks visible and hoverable. Copied text does not contain the marks. */
function withLineEnds(text) {
  const lines = text.split("\n");
  if (lines.length === 1) return text;
  const end = <span class="line-end">{"\n"}</span>;
  return lines.flatMap((line, i) => (i ? [end, line] : [line]));
}

/** Returns the tokens from `begin` on. Complete groups never change and are cached, since texts can be long. */
function group(tokens, begin) {
  const known = groups.get(tokens) ?? groups.set(tokens, new Map()).get(tokens);
  if (known.has(begin)) return known.get(begin);
  const some = tokens.slice(begin, begin + inGroup);
  const spans = some.map((token, i) => (
    <span key={i} class={`token ${sourceOf(token)}`} data-index={begin + i}>
      {withLineEnds(textOf(token))}
    </span>
  ));
  const node = <span key={begin}>{spans}</span>;
  if (some.length === inGroup) known.set(begin, node);
  return node;
}

const step = { ArrowRight: 1, ArrowLeft: -1 };
const margin = 8; // pixels

/** Positions the tooltip within the window: below its token, or above if there is no space. */
function place(tip, box) {
  tip.style.left = "0"; // at its natural width
  tip.style.left = `${Math.max(margin, Math.min(box.left, innerWidth - tip.offsetWidth - margin))}px`;
  const below = box.bottom + 6;
  tip.style.top = `${below + tip.offsetHeight + margin > innerHeight ? box.top - tip.offsetHeight - 6 : below}px`;
}

/**
 * Shows details of a token on hover, tap or selection with arrow keys. children: elements of the tokens with their index
 * (`data-index`); several may share an index, and some tokens may have none.
 */
function TokenTips({ tokens, children }) {
  const text = useRef();
  const tip = useRef();
  const [at, setAt] = useState(null);
  const spansOf = (index) => text.current.querySelectorAll(`[data-index="${index}"]`);
  const show = (index) => {
    for (const one of text.current.querySelectorAll(".current")) one.classList.remove("current");
    setAt(index);
    if (index === null) return;
    for (const one of spansOf(index)) one.classList.add("current");
  };
  useLayoutEffect(() => {
    if (at === null) return;
    const follow = () => spansOf(at)[0] && place(tip.current, spansOf(at)[0].getBoundingClientRect());
    follow();
    addEventListener("scroll", follow, { capture: true, passive: true });
    return () => removeEventListener("scroll", follow, { capture: true });
  }, [at]);
  const indexOf = (event) => {
    const index = event.target.closest?.(".token")?.dataset.index;
    return index === undefined ? null : +index;
  };
  /** Returns the next displayed token in a direction; null if there is none. */
  const nextFrom = (index, by) => {
    for (let next = index + by; next >= 0 && next < tokens.length; next += by)
      if (spansOf(next).length) return next;
    return null;
  };
  const onKeyDown = (event) => {
    if (event.key === "Escape" && at !== null) {
      event.preventDefault();
      return show(null);
    }
    const by = step[event.key];
    if (!by) return;
    event.preventDefault();
    const next = nextFrom(at ?? -1, by) ?? at;
    show(next);
    spansOf(next)[0]?.scrollIntoView({ block: "nearest" });
  };
  const isMouse = (event) => event.pointerType === "mouse";
  return (
    <>
      <div
        ref={text}
        tabindex="0"
        role="group"
        aria-label="Tokens; arrow keys go from one to the next"
        onKeyDown={onKeyDown}
        onBlur={() => show(null)}
        onClick={(event) => show(indexOf(event))}
        onPointerOver={(event) => isMouse(event) && show(indexOf(event))}
        onPointerLeave={(event) => isMouse(event) && show(null)}
      >
        {children}
      </div>
      <div class="tip" ref={tip} role="status" hidden={at === null}>
        {at !== null && tokens[at] && (
          <>
            <q>{textOf(tokens[at]).replaceAll("\n", "↵").replaceAll(" ", "␣")}</q>
            {describe(tokens[at]).map((line) => (
              <span key={line}>{line}</span>
            ))}
          </>
        )}
      </div>
    </>
  );
}

/** An answer with tokens coloured by source. text: the answer, to be rendered as Markdown; undefined: plain tokens. */
export function Tokens({ tokens, text }) {
  const count = Math.ceil(tokens.length / inGroup);
  return (
    <TokenTips tokens={tokens}>
      {text === undefined ? (
        <div class="tokens">{Array.from({ length: count }, (_, i) => group(tokens, i * inGroup))}</div>
      ) : (
        <ColouredMarkdown text={text} tokens={tokens} />
      )}
    </TokenTips>
  );
}
