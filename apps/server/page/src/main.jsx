// Entry point of the page at "/".
import { render } from "preact";
import { takeDrops } from "./attaching.js";
import { connect } from "./connection.js";
import { isEscape } from "./keys.js";
import { changedElsewhere, openLast, preserve, refreshList, stopAnswer } from "./library.js";
import { App } from "./parts/app.jsx";
import { drawWith, state, update } from "./state.js";
import { openStore } from "./store.js";

const narrow = matchMedia("(max-width: 56rem)");

function fitWindow() {
  update({ narrow: narrow.matches, sidebar: !narrow.matches });
}

/** Escape closes an overlay, else ends editing, else stops the answer. */
function onEscape(event) {
  if (!isEscape(event) || event.defaultPrevented || document.querySelector(":popover-open")) return;
  if (state.narrow && (state.panel || state.sidebar)) {
    update({ panel: null, sidebar: false });
  } else if (state.editing) {
    update({ editing: null });
  } else {
    stopAnswer(state.current);
  }
}

/** Stores partial answers when the page is hidden. */
function leave() {
  state.leaving = true;
  for (const { conversation } of state.running.values()) preserve(conversation);
}

fitWindow();
state.keeps = await openStore(changedElsewhere);
await refreshList();
await openLast();
drawWith(() => render(<App />, document.getElementById("page")));
narrow.addEventListener("change", fitWindow);
document.addEventListener("keydown", onEscape);
takeDrops();
addEventListener("pagehide", leave);
addEventListener("pageshow", () => (state.leaving = false));
connect();
