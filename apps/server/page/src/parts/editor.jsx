import { useLayoutEffect, useRef } from "preact/hooks";
import { isEnter, sends } from "../keys.js";
import { update } from "../state.js";
import { fitHeight } from "./composer.jsx";

const withControl = (event) => isEnter(event) && (event.ctrlKey || event.metaKey);

/**
 * Edits a text in place. save: receives the new text; label, action: names of the field and of the save button; lines: Enter
 * inserts a line break, only Ctrl or ⌘ with Enter saves; mayBeEmpty: allows an empty text.
 */
export function Editor({ text, label, action, lines = false, mayBeEmpty = false, save }) {
  const field = useRef();
  const saves = lines ? withControl : sends;
  const submit = (event) => {
    event.preventDefault();
    if (mayBeEmpty || field.current.value.trim()) save(field.current.value);
  };
  useLayoutEffect(() => {
    fitHeight(field.current);
    field.current.focus();
    field.current.setSelectionRange(text.length, text.length);
  }, []);
  return (
    <form class="editor" onSubmit={submit}>
      <textarea
        ref={field}
        aria-label={label}
        defaultValue={text}
        onInput={() => fitHeight(field.current)}
        onKeyDown={(event) => saves(event) && submit(event)}
      />
      <div class="choices">
        <button type="button" onClick={() => update({ editing: null })}>
          Cancel
        </button>
        <button type="submit" class="main" title={lines ? `${action} (Ctrl+Enter)` : `${action} (Enter)`}>
          {action}
        </button>
      </div>
    </form>
  );
}
