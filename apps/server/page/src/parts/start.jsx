import { send } from "../answering.js";
import { state } from "../state.js";
import { ModeChoice } from "./mode_choice.jsx";

const questions = [
  "Explain how a rainbow forms, in five sentences.",
  "Write a Python function that checks whether a word is a palindrome.",
  "Solve x² − 5x + 6 = 0 step by step.",
];
const beginnings = [
  "Once upon a time, there was a little fox who",
  "One day, Tom found a red ball in the garden.",
  "Lily and her mother went to the park. There",
];

const count = new Intl.NumberFormat("en");

/** Models without a chat template can only continue a text. */
const examplesFor = (mode, props) =>
  mode === "completion" || props?.has_chat_template === false ? beginnings : questions;

function Examples() {
  const { current, server } = state;
  return (
    <ul class="examples" aria-label="Examples">
      {examplesFor(current.mode, server.props).map((text) => (
        <li key={text}>
          <button type="button" disabled={server.status !== "ready"} onClick={() => send(text)}>
            {text}
          </button>
        </li>
      ))}
    </ul>
  );
}

function Facts({ props }) {
  if (!props) return null;
  const drafts = props.draft_models
    ? "A small draft model proposes tokens, which makes answers faster and changes none."
    : "No draft model: the model writes every token alone.";
  return (
    <p class="soft" id="facts">
      <strong>{props.model}</strong> reads and writes up to {count.format(props.n_ctx)} tokens in one
      conversation. {drafts}
    </p>
  );
}

/** The page before the first message: introduction, model, and example prompts. */
export function Start() {
  const { current, server, keeps } = state;
  const chat = current.mode === "chat";
  return (
    <div class="beginning">
      <h2>{chat ? "Ask the model anything" : "Begin a text"}</h2>
      <p>
        spectr runs a language model on this server. What you write goes to this server only.{" "}
        {keeps
          ? "Conversations are kept in this browser."
          : "This browser keeps nothing: conversations are lost when the page is closed."}
      </p>
      <Facts props={server.props} />
      <ModeChoice />
      <Examples />
    </div>
  );
}
