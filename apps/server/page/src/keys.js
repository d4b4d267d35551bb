// Key presses while an input method is active, which uses Enter and Escape itself during composition.

/** Returns true if a key press belongs to an input method. After a composition, Safari sends its Enter as key code 229. */
export const composes = (event) => event.isComposing || event.keyCode === 229;

export const isEscape = (event) => event.key === "Escape" && !composes(event);
export const isEnter = (event) => event.key === "Enter" && !composes(event);

/** Returns true if a key press submits the text: Enter without a modifier that starts a new line. */
export const sends = (event) => isEnter(event) && !event.shiftKey && !event.altKey;
