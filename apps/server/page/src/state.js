// All that the page knows and shows. Whoever changes it calls `update` or `changed`, and the page is drawn anew with the next frame.
import { loadSettings } from "./settings.js";

export const state = {
  /** status: "connecting", "loading", "ready", "locked" (a key is wanted), "away"; message: why; props: as the server tells. */
  server: { status: "connecting", message: "", props: null },
  settings: loadSettings(),
  /** Whether the page is being left: what fails now fails because of that. */
  leaving: false,
  /** Whether conversations outlive the page. */
  keeps: true,
  /** What the list shows, newest first: id, title and time. */
  list: [],
  /** The conversation that is open. */
  current: null,
  /** What the list is searched for, and the ids of conversations whose messages contain it (null: not known yet). */
  query: "",
  found: null,
  /** By the id of the conversation: the answer that is being written, what stops it, and how far its prompt has come. */
  running: new Map(),
  /** The text in the field at the bottom, and the files beside it; whether files are dragged over the page. */
  unsent: "",
  files: [],
  dropping: false,
  /** The message that is being edited, and whether the title is. */
  editing: null,
  renaming: false,
  /** Whether tokens are coloured; the answer whose statistics are told, or null for the last one. */
  drafting: false,
  chosen: null,
  measuring: null,
  /** "settings", "drafting" or null. */
  panel: null,
  sidebar: false,
  narrow: false,
  /** A short message with something to do about it: text, action, act. */
  notice: null,
  /** What a screen reader is told. */
  announcement: "",
};

let draw = () => {};
let due = false;

/** Names the function that draws the page. */
export function drawWith(render) {
  draw = render;
  changed();
}

/** Changes some of the state. */
export function update(change) {
  Object.assign(state, change);
  changed();
}

/** Has the page drawn with the next frame. */
export function changed() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    draw();
  });
}
