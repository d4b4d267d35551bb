import { useEffect, useRef } from "preact/hooks";
import { exportAll, importFile } from "../files.js";
import { changeSettings, openConversation, startConversation } from "../library.js";
import { state, update } from "../state.js";
import { ConversationMenu } from "./conversation_menu.jsx";
import { Icon, IconButton } from "./icon.jsx";

function Row({ id, title }) {
  const current = state.current.id === id;
  return (
    <li class={current ? "row current" : "row"}>
      <button
        type="button"
        class="open"
        aria-current={current ? "true" : undefined}
        onClick={() => openConversation(id)}
      >
        {title}
        {state.running.has(id) && <span class="writing" role="img" aria-label="being written" />}
      </button>
      <ConversationMenu id={id} title={title} place="list" />
    </li>
  );
}

const isDark = () =>
  state.settings.theme === "dark" ||
  (!state.settings.theme && matchMedia("(prefers-color-scheme: dark)").matches);

function ImportButton() {
  const field = useRef();
  const take = async (event) => {
    const [file] = event.target.files;
    if (file) await importFile(file);
    event.target.value = "";
  };
  return (
    <>
      <button type="button" class="quiet" onClick={() => field.current.click()}>
        Import
      </button>
      <input
        ref={field}
        type="file"
        accept="application/json,.json"
        hidden
        aria-label="File to import"
        onChange={take}
      />
    </>
  );
}

export function Sidebar() {
  const first = useRef();
  useEffect(() => {
    if (state.narrow) first.current.focus();
  }, []);
  const { list, narrow } = state;
  return (
    <nav class="sidebar" aria-label="Conversations">
      <div class="top">
        <span class="name">spectr</span>
        {narrow && <IconButton icon="close" name="Close" onClick={() => update({ sidebar: false })} />}
      </div>
      <button type="button" class="new" ref={first} onClick={startConversation}>
        <Icon name="add" />
        New chat
      </button>
      <ul>
        {list.map((entry) => (
          <Row key={entry.id} {...entry} />
        ))}
      </ul>
      <div class="foot">
        <ImportButton />
        <button type="button" class="quiet" disabled={!list.length} onClick={exportAll}>
          Export all
        </button>
        <IconButton
          id="theme"
          icon="theme"
          name={isDark() ? "Light colours" : "Dark colours"}
          onClick={() => changeSettings({ theme: isDark() ? "light" : "dark" })}
        />
      </div>
    </nav>
  );
}
