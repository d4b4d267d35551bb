// What can be chosen, and the part of a request that says it. What nobody chose is not sent: the server then goes by its
// own settings, and the page shows them.

const whole = { step: 1 };

/** name: as the API has it; slider: its range, where a field alone is not handy. max of a slider may depend on the context. */
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

/** Fields that are written as JSON. */
export const objects = [
  { name: "logit_bias", label: "Logit bias", example: '{"198": -2}' },
  {
    name: "chat_template_kwargs",
    label: "Chat template variables",
    example: '{"enable_thinking": false}',
    chat: true,
  },
];

const place = "spectr.settings";

/** Settings of sampling, length and thinking, as long as nobody chose any. */
export const freshSampling = () => ({ values: {}, stop: "", ignoreEos: false, json: {} });

const fresh = () => ({
  key: "",
  theme: "",
  system: "",
  ...freshSampling(),
  speculative: null,
  presets: [],
  /** Whether the drafting view shows Markdown. */
  markdown: false,
});

/** What was chosen last time; the beginning where nothing was, or where the browser keeps nothing. */
export function loadSettings() {
  try {
    return { ...fresh(), ...JSON.parse(localStorage.getItem(place) ?? "{}") };
  } catch {
    return fresh();
  }
}

/** Keeps them as far as the browser does. */
export function saveSettings(settings) {
  try {
    localStorage.setItem(place, JSON.stringify(settings));
  } catch {
    // They hold until the page is closed.
  }
}

/** The server's own value of a number; undefined: it has none. */
export function defaultOf(name, props) {
  const params = props?.default_generation_settings?.params ?? {};
  if (name !== "max_tokens") return params[name];
  return params.n_predict > 0 ? params.n_predict : undefined;
}

/** The object that a JSON field holds; undefined where it is empty. Throws where it holds anything else. */
export function parsedObject(text) {
  if (!text?.trim()) return undefined;
  const value = JSON.parse(text);
  if (value === null || typeof value !== "object") throw new Error("an object is wanted");
  return value;
}

const variables = "chat_template_kwargs";

/** The variable with which the model's chat template switches thinking; undefined if it has none. */
export const thinkingSwitch = (props) =>
  /(?<![.\w'"])(enable_thinking|thinking)\b/.exec(props?.chat_template ?? "")?.[1];

/** Whether thinking was chosen to be on or off; undefined if the model decides, null if the variables are no JSON object. */
export function thinkingOf(settings, variable) {
  try {
    return parsedObject(settings.json[variables])?.[variable];
  } catch {
    return null;
  }
}

/** The JSON fields with thinking on or off, or undefined to let the model decide. */
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
      fields[one.name] = parsedObject(settings.json[one.name]);
    } catch {
      throw new Error(`“${one.label}” in the settings is not a JSON object.`);
    }
  }
  return fields;
}

/** Lines of stop words; a line break in one is written as \n. */
const stopWords = (text) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((word) => word.replaceAll("\\n", "\n"));

/** The fields of a request but for its text. Throws an Error whose message is for the user. */
export function fieldsOf(settings, chat) {
  const fields = { ...settings.values, ...jsonFields(settings, chat) };
  const stop = stopWords(settings.stop);
  if (stop.length) fields.stop = stop;
  if (settings.ignoreEos) fields.ignore_eos = true;
  return settings.speculative ? { ...fields, speculative: settings.speculative } : fields;
}
