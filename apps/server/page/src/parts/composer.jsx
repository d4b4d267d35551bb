import { useLayoutEffect, useRef } from "preact/hooks";
import { send } from "../answering.js";
import { pathTo } from "../conversation.js";
import { stopAnswer } from "../library.js";
import { state, update } from "../state.js";
import { Icon } from "./icon.jsx";

const tallest = 240; // pixels

/** Makes a field as tall as its text, within bounds. */
export function fitHeight(field) {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight + 2, tallest)}px`;
}

/** Whether this key press sends: Enter alone, and not while an input method composes a character. */
export const sends = (event) =>
  event.key === "Enter" && !event.shiftKey && !event.altKey && !event.isComposing;

const count = new Intl.NumberFormat("en");

/** How much of the context the branch that is shown takes, as the server counted it last. */
function Context() {
  const total = state.server.props?.n_ctx;
  const used = pathTo(state.current).findLast((message) => message.usage)?.usage.total_tokens;
  if (!total || used === undefined) return <span />;
  const share = Math.min(used / total, 1);
  return (
    <span
      class={share > 0.9 ? "context nearly" : "context"}
      role="meter"
      aria-label="Context used"
      aria-valuemin="0"
      aria-valuemax={total}
      aria-valuenow={used}
      aria-valuetext={`${used} of ${total} tokens`}
    >
      <span class="bar">
        <span style={{ width: `${100 * share}%` }} />
      </span>
      {count.format(used)} of {count.format(total)} tokens
    </span>
  );
}

export function Composer() {
  const field = useRef();
  const { current, server, unsent } = state;
  const running = state.running.has(current.id);
  const ready = server.status === "ready";
  useLayoutEffect(() => fitHeight(field.current), [unsent, current.id]);
  useLayoutEffect(() => {
    if (!state.narrow) field.current.focus();
  }, [current.id]);
  const submit = (event) => {
    event.preventDefault();
    const text = field.current.value;
    if (running || !ready || !text.trim()) return;
    send(text);
    if (!state.narrow) field.current.focus();
  };
  const stop = () => {
    stopAnswer(current);
    if (!state.narrow) field.current.focus();
  };
  const chat = current.mode === "chat";
  return (
    <form class="composer" onSubmit={submit}>
      <div class="field">
        <textarea
          id="prompt"
          ref={field}
          rows="1"
          aria-label={chat ? "Message" : "Prompt"}
          enterkeyhint="send"
          placeholder={chat ? "Message" : "Once upon a time"}
          value={unsent}
          onInput={(event) => update({ unsent: event.target.value })}
          onKeyDown={(event) => sends(event) && submit(event)}
        />
        {running ? (
          <button type="button" id="stop" class="round" aria-label="Stop" title="Stop (Esc)" onClick={stop}>
            <Icon name="stop" />
          </button>
        ) : (
          <button
            type="submit"
            id="send"
            class="round"
            aria-label="Send"
            title="Send (Enter)"
            disabled={!ready || !unsent.trim()}
          >
            <Icon name="send" />
          </button>
        )}
      </div>
      <div class="below soft">
        <span class="keys">
          <kbd>Enter</kbd> sends, <kbd>Shift</kbd>+<kbd>Enter</kbd> starts a new line
        </span>
        <Context />
      </div>
    </form>
  );
}
