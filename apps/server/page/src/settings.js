// Settings and the request fields that they set. Unset values are not sent, so that the server's own settings apply; the
// page shows these.

const whole = { step: 1 };

/** name: as in the API; slider: its range, if a field alone is impractical. max of a slider may depend on the context. */
export const numbers = [
  {
    name: "temperature",
    label: "Temperature",
    min: 0,
    step: 0.01,
    slider: 2,
    hint: "0 takes the likeliest token each time",
  },
  { name: "top_p", label: "Top-p", min: 0, max: 1, step: 0.01, slider: 1, hint: "1 leaves out none" },
  { name: "min_p", label: "Min-p", min: 0, max: 1, step: 0.01, slider: 1, hint: "0 leaves out none" },
  { name: "top_k", label: "Top-k", min: 0, ...whole, hint: "0 leaves out none" },
  { name: "repeat_penalty", label: "Repeat penalty", min: 0.01, step: 0.01, hint: "1 is none" },
  {
    name: "repeat_last_n",
    label: "Repeat last N",
    min: -1,
    ...whole,
    hint: "tokens that the penalties see; −1 is the whole context",
  },
  { name: "presence_penalty", label: "Presence penalty", step: 0.01, hint: "0 is none" },
  { name: "frequency_penalty", label: "Frequency penalty", step: 0.01, hint: "0 is none" },
];

export const limit = {
  name: "max_tokens",
  label: "Max tokens",
  min: 1,
  ...whole,
  placeholder: "no limit",
};
export const seed = { name: "seed", label: "Seed", min: 0, ...whole, placeholder: "random" };

/** Fields that are entered as JSON. holder: the part of the settings that has them; presets change `json` only. */
export const objects = [
  { holder: "json", name: "logit_bias", label: "Logit bias", example: '{"198": -2}' },
  {
    holder: "json",
    name: "chat_template_kwargs",
    label: "Chat template variables",
    example: '{"enable_thinking": false}',
    chat: true,
  },
  {
    holder: "form",
    name: "response_format",
    label: "Response format",
    example: '{"type": "json_object"}',
  },
  {
    holder: "form",
    name: "tools",
    label: "Tools",
    example: '[{"type": "function", "function": {"name": "clock"}}]',
    isList: true,
    chat: true,
  },
];

const place = "spectr.settings";

/** Returns unset settings of sampling, length and reasoning. */
export const freshSampling = () => ({ values: {}, stop: "", ignoreEos: false, json: {} });

const fresh = () => ({
  key: "",
  /** One of several models of the server; empty: one that is loaded. */
  model: "",
  theme: "",
  system: "",
  ...freshSampling(),
  /** Format of answers, and tools. */
  form: {},
  speculative: null,
  presets: [],
  /** The drafting view shows Markdown. */
  markdown: false,
});

/** Loads the stored settings; returns the defaults if there are none or the browser has no storage. */
export function loadSettings() {
  try {
    return { ...fresh(), ...JSON.parse(localStorage.getItem(place) ?? "{}") };
  } catch {
    return fresh();
  }
}

/** Stores the settings if the browser has storage. */
export function saveSettings(settings) {
  try {
    localStorage.setItem(place, JSON.stringify(settings));
  } catch {
    // They are lost when the page is closed.
  }
}

/** Returns the server's default of a number; undefined if it has none. */
export function defaultOf(name, props) {
  const params = props?.default_generation_settings?.params ?? {};
  if (name !== "max_tokens") return params[name];
  return params.n_predict > 0 ? params.n_predict : undefined;
}

/** Parses the object or list of a JSON field; undefined if it is empty. Throws for anything else. */
export function parsedObject(text, isList = false) {
  if (!text?.trim()) return undefined;
  const value = JSON.parse(text);
  const good = isList ? Array.isArray(value) : value !== null && typeof value === "object";
  if (!good) throw new Error("an object or list is wanted");
  return value;
}

/** The kind of JSON that a field holds. */
export const kindOf = ({ isList }) => (isList ? "list" : "object");

const variables = "chat_template_kwargs";

/** Returns the chat template's variable that switches reasoning; undefined if there is none. */
export const thinkingSwitch = (props) =>
  /(?<![.\w'"])(enable_thinking|thinking)\b/.exec(props?.chat_template ?? "")?.[1];

/** Returns whether reasoning is on or off; undefined if the model decides, null if the variables are not a JSON object. */
export function thinkingOf(settings, variable) {
  try {
    return parsedObject(settings.json[variables])?.[variable];
  } catch {
    return null;
  }
}

/** Returns the JSON fields with reasoning on or off; undefined lets the model decide. */
export function withThinking({ json }, variable, thinking) {
  const others = parsedObject(json[variables]);
  const all = { ...others, [variable]: thinking };
  const empty = Object.values(all).every((value) => value === undefined);
  return { ...json, [variables]: empty ? "" : JSON.stringify(all) };
}

function jsonFields(settings, chat) {
  const fields = {};
  for (const one of objects) {
    if (one.chat && !chat) continue;
    try {
      fields[one.name] = parsedObject(settings[one.holder][one.name], one.isList);
    } catch {
      throw new Error(`“${one.label}” in the settings is not a JSON ${kindOf(one)}.`);
    }
  }
  return fields;
}

/** Parses stop strings, one per line. A line break in one is written as \n. */
const stopWords = (text) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((word) => word.replaceAll("\\n", "\n"));

/** Returns the request fields except the prompt. Throws an Error with a user-facing message. */
export function fieldsOf(settings, chat) {
  const fields = { ...settings.values, ...jsonFields(settings, chat) };
  const stop = stopWords(settings.stop);
  if (stop.length) fields.stop = stop;
  if (settings.ignoreEos) fields.ignore_eos = true;
  return settings.speculative ? { ...fields, speculative: settings.speculative } : fields;
}
