import { useLayoutEffect, useRef } from "preact/hooks";
import { send } from "../answering.js";
import { attach, detach, pasteFiles } from "../attaching.js";
import { pathTo } from "../conversation.js";
import { sends } from "../keys.js";
import { changeSettings, stopAnswer } from "../library.js";
import { thinkingOf, thinkingSwitch, withThinking } from "../settings.js";
import { state, update } from "../state.js";
import { ChosenFiles } from "./files.jsx";
import { Icon, IconButton } from "./icon.jsx";

const tallest = 240; // pixels

/** Adjusts the height of a field to its text, within limits. */
export function fitHeight(field) {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight + 2, tallest)}px`;
}

const count = new Intl.NumberFormat("en");

/** Shows the share of the context that the shown branch uses, as last reported by the server. */
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

function AttachButton() {
  const field = useRef();
  const take = (event) => {
    attach(event.target.files);
    event.target.value = "";
  };
  return (
    <>
      <IconButton icon="attach" name="Attach text files" onClick={() => field.current.click()} />
      <input ref={field} type="file" multiple hidden aria-label="Files to attach" onChange={take} />
    </>
  );
}

const nameOf = (thinking) => ({ true: "on", false: "off" })[thinking] ?? "auto";

/** The value that a click selects next: off, on, then the model's default. */
const nextOf = (thinking) => ({ undefined: false, false: true })[thinking];

/** Toggles reasoning if the model's chat template supports it. */
function Thinking() {
  const { settings, server, current } = state;
  const variable = thinkingSwitch(server.props);
  const thinking = thinkingOf(settings, variable);
  if (current.mode !== "chat" || thinking === null || !variable) return null;
  return (
    <button
      type="button"
      class="quiet thinking"
      title="Whether the model thinks before it answers"
      onClick={() => changeSettings({ json: withThinking(settings, variable, nextOf(thinking)) })}
    >
      Thinking: {nameOf(thinking)}
    </button>
  );
}

export function Composer() {
  const field = useRef();
  const { current, server, unsent, files } = state;
  const running = state.running.has(current.id);
  const ready = server.status === "ready";
  useLayoutEffect(() => fitHeight(field.current), [unsent, current.id]);
  useLayoutEffect(() => {
    if (!state.narrow) field.current.focus();
  }, [current.id]);
  const submit = (event) => {
    event.preventDefault();
    const text = field.current.value;
    if (running || !ready || !(text.trim() || files.length)) return;
    update({ unsent: "", files: [] });
    send(text, files);
    if (!state.narrow) field.current.focus();
  };
  const stop = () => {
    stopAnswer(current);
    if (!state.narrow) field.current.focus();
  };
  const chat = current.mode === "chat";
  return (
    <form class="composer" onSubmit={submit}>
      <ChosenFiles files={files} remove={detach} />
      <div class="field">
        <AttachButton />
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
          onPaste={pasteFiles}
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
            disabled={!ready || !(unsent.trim() || files.length)}
          >
            <Icon name="send" />
          </button>
        )}
      </div>
      <div class="below soft">
        <span class="keys">
          <kbd>Enter</kbd> sends, <kbd>Shift</kbd>+<kbd>Enter</kbd> starts a new line
        </span>
        <Thinking />
        <Context />
      </div>
    </form>
  );
}
