import { useEffect, useRef } from "preact/hooks";
import { state, update } from "../state.js";
import { IconButton } from "./icon.jsx";

/** A panel next to the conversation, or over it in a narrow window. */
export function Panel({ name, children }) {
  const heading = useRef();
  useEffect(() => {
    if (state.narrow) heading.current.focus();
  }, []);
  return (
    <aside class="panel" aria-label={name}>
      <div class="top">
        <h2 ref={heading} tabindex="-1">
          {name}
        </h2>
        <IconButton
          icon="close"
          name={`Close ${name.toLowerCase()}`}
          onClick={() => update({ panel: null })}
        />
      </div>
      {children}
    </aside>
  );
}
