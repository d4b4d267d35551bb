import { useEffect, useRef } from "preact/hooks";
import { titleOf } from "../conversation.js";
import { isEnter, isEscape } from "../keys.js";
import { rename } from "../library.js";
import { state, update } from "../state.js";
import { ConversationMenu } from "./conversation_menu.jsx";
import { Icon, IconButton } from "./icon.jsx";

function TitleField({ conversation }) {
  const field = useRef();
  useEffect(() => {
    field.current.focus();
    field.current.select();
  }, []);
  const onKeyDown = (event) => {
    if (isEnter(event)) rename(conversation, event.target.value);
    if (!isEscape(event)) return;
    event.preventDefault();
    update({ renaming: false });
  };
  return (
    <input
      class="title"
      ref={field}
      aria-label="Title"
      defaultValue={titleOf(conversation)}
      maxlength="200"
      onKeyDown={onKeyDown}
      onBlur={(event) => state.renaming && rename(conversation, event.target.value)}
    />
  );
}

/** Toggles the drafting view: coloured tokens and, in a wide window, the statistics panel. */
function toggleDrafting() {
  const drafting = !state.drafting;
  const beside = drafting && !state.narrow ? "drafting" : null;
  update({ drafting, panel: beside ?? (state.panel === "drafting" ? null : state.panel) });
}

function togglePanel(name) {
  update({ panel: state.panel === name ? null : name });
}

export function Header() {
  const { current, server, sidebar, renaming, drafting, panel } = state;
  return (
    <header>
      <IconButton
        icon="menu"
        name="Conversations"
        aria-expanded={sidebar}
        onClick={() => update({ sidebar: !sidebar })}
      />
      <div class="heading">
        {renaming ? <TitleField conversation={current} /> : <h1>{titleOf(current)}</h1>}
        <p id="status" class="soft">
          {server.props?.model ?? "spectr"}
        </p>
      </div>
      <ConversationMenu id={current.id} title={titleOf(current)} />
      <button
        type="button"
        class="quiet"
        id="drafting"
        aria-label="Drafting"
        aria-pressed={drafting}
        onClick={toggleDrafting}
        title="Which tokens were drafted, and what it brings"
      >
        <Icon name="drafting" />
        <span class="label">Drafting</span>
      </button>
      <IconButton
        icon="settings"
        name="Settings"
        aria-expanded={panel === "settings"}
        onClick={() => togglePanel("settings")}
      />
    </header>
  );
}
