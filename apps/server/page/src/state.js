// The state of the page. Code that changes it must call `update` or `changed`, which renders the page in the next frame.
import { loadSettings } from "./settings.js";

export const state = {
  /**
   * status: "connecting", "loading", "ready", "locked" (key required), "failed" (the model cannot be loaded), "away"; message:
   * reason; props: the server's /props; models: names, if there are several; model: the one of them that is used.
   */
  server: { status: "connecting", message: "", props: null, models: null, model: null },
  settings: loadSettings(),
  /** True while the page is being closed, which makes pending requests fail. */
  leaving: false,
  /** True if conversations are stored in the browser. */
  keeps: true,
  /** Entries of the conversation list, newest first: id, title and time. */
  list: [],
  /** The open conversation. */
  current: null,
  /** Search text of the list, and the ids of conversations with matching messages (null: not known yet). */
  query: "",
  found: null,
  /** By conversation id: the answer being streamed, its AbortController, and the progress of its prompt. */
  running: new Map(),
  /** Unsent text and attached files; `dropping` is true while files are dragged over the page. */
  unsent: "",
  files: [],
  dropping: false,
  /** The message that is being edited, and whether the title is being edited. */
  editing: null,
  renaming: false,
  /** True if tokens are coloured; the answer whose statistics are shown, or null for the last one. */
  drafting: false,
  chosen: null,
  measuring: null,
  /** "settings", "drafting" or null. */
  panel: null,
  sidebar: false,
  narrow: false,
  /** A short notice with an optional action: text, action, act. */
  notice: null,
  /** Text announced to screen readers. */
  announcement: "",
};

let draw = () => {};
let due = false;

/** Sets the function that renders the page. */
export function drawWith(render) {
  draw = render;
  changed();
}

/** Changes part of the state. */
export function update(change) {
  Object.assign(state, change);
  changed();
}

/** Schedules rendering in the next frame. */
export function changed() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    draw();
  });
}
