import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { exportJson, exportMarkdown } from "../files.js";
import { clear, deleteConversation, openConversation } from "../library.js";
import { state, update } from "../state.js";
import { Icon } from "./icon.jsx";

async function withOpened(id, work) {
  if (state.current.id !== id) await openConversation(id);
  await work(state.current);
}

const startRenaming = (id) => withOpened(id, () => update({ renaming: true }));

const items = [
  ["Rename", startRenaming],
  ["Export as Markdown", exportMarkdown],
  ["Export as JSON", exportJson],
  ["Clear", (id) => withOpened(id, clear)],
  ["Delete", deleteConversation],
];

const step = { ArrowDown: 1, ArrowUp: -1 };

/** A menu button for a conversation. place: makes ids unique if several menus for the same conversation exist. */
export function ConversationMenu({ id, title, place = "header" }) {
  const button = useRef();
  const menu = useRef();
  const [open, setOpen] = useState(false);
  const name = `menu-${place}-${id}`;
  useLayoutEffect(() => {
    if (!open) return;
    const box = button.current.getBoundingClientRect();
    const own = menu.current;
    own.style.left = `${Math.max(8, Math.min(box.left, innerWidth - own.offsetWidth - 8))}px`;
    own.style.top = `${Math.min(box.bottom + 4, innerHeight - own.offsetHeight - 8)}px`;
    own.querySelector("button").focus();
  }, [open]);
  const onKeyDown = (event) => {
    if (!step[event.key]) return;
    event.preventDefault();
    const all = [...menu.current.querySelectorAll("button")];
    all[(all.indexOf(document.activeElement) + step[event.key] + all.length) % all.length].focus();
  };
  const choose = (act) => {
    menu.current.hidePopover();
    act(id);
  };
  return (
    <>
      <button
        type="button"
        class="quiet"
        ref={button}
        popovertarget={name}
        aria-haspopup="menu"
        aria-label={`More: ${title}`}
        title="More"
      >
        <Icon name="more" />
      </button>
      <div
        class="menu"
        id={name}
        ref={menu}
        popover="auto"
        role="menu"
        aria-label={title}
        onToggle={(event) => setOpen(event.newState === "open")}
        onKeyDown={onKeyDown}
      >
        {open &&
          items.map(([label, act]) => (
            <button
              key={label}
              type="button"
              role="menuitem"
              class={label === "Delete" ? "harm" : ""}
              onClick={() => choose(act)}
            >
              {label}
            </button>
          ))}
      </div>
    </>
  );
}
