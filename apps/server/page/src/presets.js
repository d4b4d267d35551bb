// Presets: settings of sampling, length and thinking under a name.
import { freshSampling } from "./settings.js";

/** Presets that are always there. They leave the system prompt as it is. */
export const builtIn = [
  { name: "Server defaults", ...freshSampling() },
  { name: "Precise", ...freshSampling(), values: { temperature: 0.2, top_p: 0.9 } },
  { name: "Creative", ...freshSampling(), values: { temperature: 1.2, min_p: 0.05 } },
];

const fields = Object.keys(freshSampling());

const pick = (source, names) => Object.fromEntries(names.map((name) => [name, source[name]]));

const isChosen = (value) => value !== undefined && value !== "";
/** The same text for the same settings, in whatever order they were chosen. */
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

/** All presets, the user's last. */
export const presetsOf = (settings) => [...builtIn, ...settings.presets];

/** The preset that the settings equal, the user's first; undefined if there is none. */
export const currentPreset = (settings) => presetsOf(settings).findLast((one) => holds(settings, one));

/** The settings that choosing a preset changes. */
export const choosePreset = (preset) => structuredClone(pick(preset, fieldsOf(preset)));

/** The user's presets with the settings under a name, which replaces one of that name. Null if a built-in preset has it. */
export function withPreset(settings, name) {
  if (builtIn.some((one) => one.name === name)) return null;
  const preset = structuredClone({ name, ...pick(settings, ["system", ...fields]) });
  return [...withoutPreset(settings, name), preset];
}

export const withoutPreset = (settings, name) => settings.presets.filter((one) => one.name !== name);
