import { useState } from "preact/hooks";
import { changeSettings, preserve, tell } from "../library.js";
import { choosePreset, currentPreset, presetsOf, withoutPreset, withPreset } from "../presets.js";
import { state } from "../state.js";
import { Choice } from "./choice.jsx";

const own = "";

function choose(name) {
  const { settings, current } = state;
  const preset = presetsOf(settings).find((one) => one.name === name);
  if (!preset) return;
  const change = choosePreset(preset);
  if ("system" in change) {
    current.system = change.system;
    if (current.leaf) preserve(current);
  }
  changeSettings(change);
}

function remove(name) {
  const { presets } = state.settings;
  changeSettings({ presets: withoutPreset(state.settings, name) });
  tell(`The preset “${name}” is deleted.`, "Undo", () => changeSettings({ presets }));
}

function SaveForm({ close }) {
  const submit = (event) => {
    event.preventDefault();
    const name = event.target.elements.preset.value.trim();
    if (!name) return;
    const presets = withPreset(state.settings, name);
    if (!presets) return tell(`“${name}” is built in. Choose another name.`);
    changeSettings({ presets });
    close();
  };
  return (
    <form class="save" onSubmit={submit}>
      <input
        name="preset"
        aria-label="Name of the preset"
        placeholder="Name"
        maxlength="60"
        required
        ref={(field) => field?.focus()}
      />
      <button type="submit">Save</button>
      <button type="button" onClick={close}>
        Cancel
      </button>
    </form>
  );
}

/** Chooses, saves and deletes presets. */
export function Presets() {
  const [saving, setSaving] = useState(false);
  const { settings } = state;
  const current = currentPreset(settings);
  const names = presetsOf(settings).map(({ name }) => name);
  const options = current ? names : [[own, "Custom"], ...names];
  return (
    <section class="presets" aria-label="Presets">
      <Choice
        id="preset"
        label="Preset"
        value={current?.name ?? own}
        options={options}
        describedBy="preset-hint"
        change={choose}
      />
      <p class="hint" id="preset-hint">
        Presets hold sampling, length and thinking; saved ones also the system prompt.
      </p>
      {saving ? (
        <SaveForm close={() => setSaving(false)} />
      ) : (
        <div class="choices">
          <button type="button" onClick={() => setSaving(true)}>
            Save as preset
          </button>
          {settings.presets.includes(current) && (
            <button type="button" onClick={() => remove(current.name)}>
              Delete preset
            </button>
          )}
        </div>
      )}
    </section>
  );
}
