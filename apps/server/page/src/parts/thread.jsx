import { useLayoutEffect, useRef } from "preact/hooks";
import { pathTo } from "../conversation.js";
import { copyText } from "../copy.js";
import { sources } from "../drafting.js";
import { state } from "../state.js";
import { IconButton } from "./icon.jsx";
import { Message } from "./message.jsx";
import { ModeChoice } from "./mode_choice.jsx";
import { ServerState } from "./server_state.jsx";

const nearEnd = 40; // pixels

function Legend() {
  return (
    <ul class="legend" aria-label="Where a token came from">
      {Object.entries(sources).map(([source, { name }]) => (
        <li key={source}>
          <span class={`token ${source}`}>{name}</span>
        </li>
      ))}
    </ul>
  );
}

function Beginning() {
  return (
    <div class="beginning">
      <h2>{state.current.mode === "chat" ? "Begin a conversation" : "Begin a text"}</h2>
      <ModeChoice />
      <p class="soft">
        {state.keeps
          ? "What is written here stays in this browser."
          : "This browser keeps nothing: what is written here is lost when the page is closed."}
      </p>
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

/** The messages of the branch that is shown. It stays at its end while text comes in, unless one has scrolled away. */
export function Thread() {
  const scroller = useRef();
  const down = useRef();
  const stuck = useRef(true);
  const { current, drafting } = state;
  const path = pathTo(current);
  const toEnd = () => (scroller.current.scrollTop = scroller.current.scrollHeight);
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = scroller.current;
    stuck.current = scrollHeight - scrollTop - clientHeight < nearEnd;
    down.current.hidden = stuck.current;
  };
  useLayoutEffect(() => {
    stuck.current = true;
  }, [current.id, path.length]);
  useLayoutEffect(() => {
    if (stuck.current) toEnd();
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
        {path.map((message, i) => (
          <Message key={message.id} message={message} last={i === path.length - 1} />
        ))}
        {!path.length && <Beginning />}
        <ServerState />
      </div>
      <div class="to-end" ref={down} hidden>
        <IconButton icon="down" name="To the end" onClick={toEnd} />
      </div>
    </section>
  );
}
