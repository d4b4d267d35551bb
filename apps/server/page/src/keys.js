// Key presses next to an input method, which uses Enter and Escape itself while it composes a character.

/** Whether a key press belongs to an input method. Safari ends a composition first and sends its Enter afterwards, as key code 229. */
export const composes = (event) => event.isComposing || event.keyCode === 229;

export const isEscape = (event) => event.key === "Escape" && !composes(event);
export const isEnter = (event) => event.key === "Enter" && !composes(event);

/** Whether a key press sends what was written: Enter without a modifier that starts a new line. */
export const sends = (event) => isEnter(event) && !event.shiftKey && !event.altKey;
