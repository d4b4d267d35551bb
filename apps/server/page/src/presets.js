// Named presets of settings for sampling, length and reasoning.
import { freshSampling } from "./settings.js";

/** Built-in presets. They do not change the system prompt. */
export const builtIn = [
  { name: "Server defaults", ...freshSampling() },
  { name: "Precise", ...freshSampling(), values: { temperature: 0.2, top_p: 0.9 } },
  { name: "Creative", ...freshSampling(), values: { temperature: 1.2, min_p: 0.05 } },
];

const fields = Object.keys(freshSampling());

const pick = (source, names) => Object.fromEntries(names.map((name) => [name, source[name]]));

const isChosen = (value) => value !== undefined && value !== "";
/** Returns the same text for equal settings, independent of the order in which they were set. */
const canonical = (value) =>
  value !== null && typeof value === "object"
    ? Object.keys(value)
        .filter((name) => isChosen(value[name]))
        .sort()
        .map((name) => `${name}:${canonical(value[name])}`)
        .join("\n")
    : JSON.stringify(value);

const fieldsOf = (preset) => ("system" in preset ? ["system", ...fields] : fields);

const holds = (settings, preset) =>
  fieldsOf(preset).every((name) => canonical(settings[name]) === canonical(preset[name]));

/** Returns all presets, the user's last. */
export const presetsOf = (settings) => [...builtIn, ...settings.presets];

/** Returns the preset that equals the settings, preferring the user's; undefined if there is none. */
export const currentPreset = (settings) => presetsOf(settings).findLast((one) => holds(settings, one));

/** Returns the settings that a preset changes. */
export const choosePreset = (preset) => structuredClone(pick(preset, fieldsOf(preset)));

/** Returns the user's presets with the settings added or replaced under a name; null if a built-in preset has it. */
export function withPreset(settings, name) {
  if (builtIn.some((one) => one.name === name)) return null;
  const preset = structuredClone({ name, ...pick(settings, ["system", ...fields]) });
  return [...withoutPreset(settings, name), preset];
}

export const withoutPreset = (settings, name) => settings.presets.filter((one) => one.name !== name);
