import { useEffect, useRef } from "preact/hooks";
import { exportAll, importFile } from "../files.js";
import { fullDate, periodOf, shortDate } from "../dates.js";
import { isEscape } from "../keys.js";
import { changeSettings, listFound, openConversation, search, startConversation } from "../library.js";
import { state, update } from "../state.js";
import { ConversationMenu } from "./conversation_menu.jsx";
import { Icon, IconButton } from "./icon.jsx";

function Row({ id, title, changed }) {
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
      <time class="soft" datetime={new Date(changed).toISOString()} title={fullDate(changed)}>
        {shortDate(changed)}
      </time>
      <ConversationMenu id={id} title={title} place="list" />
    </li>
  );
}

/** The conversations grouped by the time of their last change, newest first. */
function List({ entries }) {
  const periods = Map.groupBy(entries, ({ changed }) => periodOf(changed));
  return Array.from(periods, ([period, some]) => (
    <section key={period} aria-label={period}>
      <h2>{period}</h2>
      <ul>
        {some.map((entry) => (
          <Row key={entry.id} {...entry} />
        ))}
      </ul>
    </section>
  ));
}

function Search() {
  const onKeyDown = (event) => {
    if (!isEscape(event) || !state.query) return;
    event.preventDefault();
    search("");
  };
  return (
    <input
      type="search"
      aria-label="Search conversations"
      placeholder="Search"
      value={state.query}
      onInput={(event) => search(event.target.value)}
      onKeyDown={onKeyDown}
    />
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
  const { list, narrow, query, found } = state;
  const entries = listFound();
  const searched = query.trim() && found;
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
      {list.length > 0 && <Search />}
      <div class="list">
        <List entries={entries} />
        <p class="soft nothing" role="status">
          {searched && !entries.length && `No conversation contains “${state.query.trim()}”.`}
        </p>
      </div>
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
