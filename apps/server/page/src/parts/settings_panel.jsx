import { connect } from "../connection.js";
import { changeSettings, preserve } from "../library.js";
import {
  defaultOf,
  kindOf,
  limit,
  numbers,
  objects,
  parsedObject,
  freshSampling,
  seed,
  thinkingOf,
  thinkingSwitch,
  withThinking,
} from "../settings.js";
import { state } from "../state.js";
import { Choice } from "./choice.jsx";
import { ModelChoice } from "./model_choice.jsx";
import { ModeChoice } from "./mode_choice.jsx";
import { NumberField } from "./number_field.jsx";
import { Panel } from "./panel.jsx";
import { Presets } from "./presets.jsx";

function SystemPrompt() {
  const { current } = state;
  const change = (event) => {
    current.system = event.target.value;
    changeSettings({ system: current.system });
  };
  return (
    <div>
      <label for="system">System prompt</label>
      <textarea
        id="system"
        rows="3"
        value={current.system}
        disabled={current.mode !== "chat"}
        aria-describedby="system-hint"
        placeholder="none"
        onInput={change}
        onChange={() => current.leaf && preserve(current)}
      />
      <p class="hint" id="system-hint">
        Of this conversation, and of new ones.
      </p>
    </div>
  );
}

const thinkingOptions = [
  ["", "As the model does"],
  ["on", "On"],
  ["off", "Off"],
];
const thinkingValues = { on: true, off: false };

/** Toggles reasoning if the model's chat template supports it. */
function Thinking() {
  const { settings, server, current } = state;
  const known = thinkingSwitch(server.props);
  const thinking = thinkingOf(settings, known);
  if (current.mode !== "chat") return null;
  const change = (name) => changeSettings({ json: withThinking(settings, known, thinkingValues[name]) });
  return (
    <div>
      <Choice
        id="thinking"
        label="Thinking"
        value={thinking === true ? "on" : thinking === false ? "off" : ""}
        options={thinkingOptions}
        disabled={!known || thinking === null}
        describedBy="thinking-hint"
        change={change}
      />
      <p class="hint" id="thinking-hint">
        {known ? "Whether the model thinks before it answers." : "This model has no switch for thinking."}
      </p>
    </div>
  );
}

function NumberSetting({ rule }) {
  const { settings, server } = state;
  const change = (value) => {
    const values = { ...settings.values, [rule.name]: Number.isNaN(value) ? undefined : value };
    changeSettings({ values });
  };
  return (
    <NumberField
      rule={rule}
      value={settings.values[rule.name]}
      fallback={defaultOf(rule.name, server.props)}
      change={change}
    />
  );
}

function isWrong(text, isList) {
  try {
    parsedObject(text, isList);
    return false;
  } catch {
    return true;
  }
}

function JsonField({ rule }) {
  const { holder, name, label, example, isList } = rule;
  const values = state.settings[holder];
  const wrong = isWrong(values[name], isList);
  return (
    <div>
      <label for={name}>{label}</label>
      <textarea
        id={name}
        class="code"
        rows="2"
        value={values[name] ?? ""}
        placeholder={example}
        aria-invalid={wrong}
        aria-describedby={`${name}-hint`}
        spellcheck={false}
        onInput={(event) => changeSettings({ [holder]: { ...values, [name]: event.target.value } })}
      />
      <p class="hint" id={`${name}-hint`}>
        {wrong ? `This is not a JSON ${kindOf(rule)}.` : `a JSON ${kindOf(rule)}`}
      </p>
    </div>
  );
}

function Key() {
  const { settings, server } = state;
  const hint =
    {
      locked: "The server wants one.",
      ready: settings.key ? "The server takes it." : "This server wants none.",
    }[server.status] ?? "";
  return (
    <div>
      <label for="key">API key</label>
      <input
        id="key"
        type="password"
        autocomplete="off"
        key={settings.key}
        defaultValue={settings.key}
        aria-describedby="key-hint"
        onChange={(event) => (changeSettings({ key: event.target.value.trim() }), connect())}
      />
      <p class="hint" id="key-hint">
        {hint} It is kept in this browser.
      </p>
    </div>
  );
}

export function SettingsPanel() {
  const { settings, server } = state;
  const max = { ...limit, slider: server.props?.n_ctx ?? 4096 };
  return (
    <Panel name="Settings">
      <ModelChoice id="model" />
      <Presets />
      <form id="settings" onSubmit={(event) => event.preventDefault()}>
        <SystemPrompt />
        <ModeChoice name="mode-of-settings" />
        <Thinking />
        <h3>Sampling</h3>
        <p class="hint">What is left empty the server decides; its values are shown in grey.</p>
        {numbers.slice(0, 4).map((rule) => (
          <NumberSetting key={rule.name} rule={rule} />
        ))}
        <NumberSetting rule={seed} />
        <details>
          <summary>Penalties and biases</summary>
          {numbers.slice(4).map((rule) => (
            <NumberSetting key={rule.name} rule={rule} />
          ))}
          <JsonField rule={objects[0]} />
        </details>
        <h3>Length</h3>
        <NumberSetting rule={max} />
        <div>
          <label for="stop-words">Stop words</label>
          <textarea
            id="stop-words"
            class="code"
            rows="2"
            value={settings.stop}
            placeholder="none"
            spellcheck={false}
            aria-describedby="stop-hint"
            onInput={(event) => changeSettings({ stop: event.target.value })}
          />
          <p class="hint" id="stop-hint">
            one a line; \n stands for a line break
          </p>
        </div>
        <label class="check">
          <input
            type="checkbox"
            checked={settings.ignoreEos}
            onChange={(event) => changeSettings({ ignoreEos: event.target.checked })}
          />
          Ignore the end of text (EOS)
        </label>
        <details>
          <summary>Format and tools</summary>
          <JsonField rule={objects[2]} />
          <JsonField rule={objects[3]} />
        </details>
        <h3>Server</h3>
        <Key />
        <JsonField rule={objects[1]} />
        <button type="button" onClick={() => changeSettings(freshSampling())}>
          Reset sampling and length
        </button>
        <p class="hint">
          <a href="licences.txt" target="_blank" rel="noopener">
            Licences of the page’s libraries
          </a>
        </p>
      </form>
    </Panel>
  );
}
