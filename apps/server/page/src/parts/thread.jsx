import { useLayoutEffect, useRef } from "preact/hooks";
import { pathTo } from "../conversation.js";
import { copyText } from "../copy.js";
import { sources } from "../drafting.js";
import { changeSettings } from "../library.js";
import { lacksDraftModel } from "../speculation.js";
import { state } from "../state.js";
import { Answer } from "./answer.jsx";
import { Results } from "./calls.jsx";
import { IconButton } from "./icon.jsx";
import { UserMessage } from "./message.jsx";
import { ServerState } from "./server_state.jsx";
import { Start } from "./start.jsx";

const nearEnd = 40; // pixels
const parts = { user: UserMessage, assistant: Answer, tool: Results };

/** The legend of token colours, and the switch for coloured Markdown. */
function Legend() {
  const { settings, server } = state;
  return (
    <div class="legend">
      {lacksDraftModel(server.props) && <span class="soft">No draft model: nothing is drafted.</span>}
      <ul aria-label="Where a token came from">
        {Object.entries(sources).map(([source, { name }]) => (
          <li key={source}>
            <span class={`token ${source}`}>{name}</span>
          </li>
        ))}
      </ul>
      <label class="check">
        <input
          type="checkbox"
          checked={settings.markdown}
          onChange={(event) => changeSettings({ markdown: event.target.checked })}
        />
        Markdown
      </label>
    </div>
  );
}

async function copyCode(event) {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const copied = await copyText(button.closest(".code").querySelector("code").textContent);
  button.textContent = copied ? "Copied" : "Not copied";
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

/** The messages of the shown branch. Follows new text unless the user has scrolled away from the end. */
export function Thread() {
  const scroller = useRef();
  const down = useRef();
  const stuck = useRef(true);
  const { current, drafting } = state;
  const path = pathTo(current);
  const toEnd = () => (scroller.current.scrollTop = scroller.current.scrollHeight);
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = scroller.current;
    stuck.current = !path.length || scrollHeight - scrollTop - clientHeight < nearEnd;
    down.current.hidden = stuck.current;
  };
  useLayoutEffect(() => {
    stuck.current = true;
  }, [current.id, path.length]);
  useLayoutEffect(() => {
    if (stuck.current && path.length) toEnd();
    onScroll();
  });
  return (
    <section
      class="thread"
      aria-label="Conversation"
      aria-busy={state.running.has(current.id)}
      ref={scroller}
      onScroll={onScroll}
      onClick={copyCode}
    >
      {drafting && <Legend />}
      <div class="messages" id="text">
        {path.map((message, i) => {
          const Message = parts[message.role];
          return <Message key={message.id} message={message} last={i === path.length - 1} />;
        })}
        {!path.length && <Start />}
        <ServerState />
      </div>
      <div class="to-end" ref={down} hidden>
        <IconButton icon="down" name="To the end" onClick={toEnd} />
      </div>
    </section>
  );
}
