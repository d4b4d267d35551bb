// Files to be sent with the next message: chosen, dropped or pasted.
import { tell } from "./library.js";
import { state, update } from "./state.js";
import { readTextFile } from "./text_files.js";

/** Attaches the text files of a list and reports which other files cannot be attached and why. */
export async function attach(list) {
  const read = await Promise.allSettled(Array.from(list, readTextFile));
  const files = read.flatMap(({ value }) => value ?? []);
  const refusals = read.flatMap(({ reason }) => reason?.message ?? []);
  update({ files: [...state.files, ...files] });
  if (refusals.length) tell(refusals.join(" "));
}

export function detach(file) {
  update({ files: state.files.filter((one) => one !== file) });
}

/**
 * Attaches pasted files. Ignores a picture that is pasted together with text, as from a word processor or a spreadsheet;
 * the text is pasted instead.
 */
export function pasteFiles(event) {
  const { files, types } = event.clipboardData;
  const pictures = Array.from(files).every(({ type }) => type.startsWith("image/"));
  if (!files.length || (pictures && types.includes("text/plain"))) return;
  event.preventDefault();
  attach(files);
}

const hasFiles = (event) => event.dataTransfer?.types.includes("Files");

/** Accepts files dropped anywhere on the page, which the browser would otherwise open instead of the page. */
export function takeDrops() {
  const show = (dropping) => state.dropping !== dropping && update({ dropping });
  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    show(true);
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget === null && show(false));
  document.addEventListener("drop", (event) => {
    show(false);
    if (!hasFiles(event)) return;
    event.preventDefault();
    attach(event.dataTransfer.files);
  });
}
