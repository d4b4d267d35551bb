import { preserve } from "../library.js";
import { changed, state } from "../state.js";

const modes = [
  ["chat", "Conversation"],
  ["completion", "Completion"],
];

function explain(mode, props) {
  if (mode === "completion") return "The model goes on with each text as it stands.";
  if (props?.chat_template === "") return "The model sees all messages, one a line: it has no chat template.";
  return "The model sees all messages, in the form of its chat template.";
}

function choose(mode) {
  state.current.mode = mode;
  changed();
  if (state.current.leaf) preserve(state.current);
}

/** Selects the mode of the conversation. name: name of the radio group, which may be on the page twice. */
export function ModeChoice({ name = "mode" }) {
  const { mode } = state.current;
  return (
    <fieldset class="modes">
      <legend>Mode</legend>
      <div class="segments">
        {modes.map(([value, label]) => (
          <label key={value} class={mode === value ? "chosen" : ""}>
            <input
              type="radio"
              name={name}
              value={value}
              checked={mode === value}
              onChange={() => choose(value)}
            />
            {label}
          </label>
        ))}
      </div>
      <p class="hint">{explain(mode, state.server.props)}</p>
    </fieldset>
  );
}
