import { acceptanceChart, speedChart } from "./chart.js";

const $ = (id) => document.getElementById(id);
const page = { methods: [], conversation: [], plain: null, running: null, last: null, speeds: [], decoder: null, chosen: false };

// --- The server ---------------------------------------------------------------------------------------------

function headers() {
  const key = $("key").value;
  return { "Content-Type": "application/json", ...(key ? { Authorization: `Bearer ${key}` } : {}) };
}

async function failure(response) {
  const body = await response.json().catch(() => null);
  return new Error(body?.error?.message ?? `the server answers ${response.status}`);
}

/** The events of a stream, one object after the other. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    held += value;
    for (let end; (end = held.indexOf("\n\n")) >= 0; held = held.slice(end + 2)) {
      const line = held.slice(0, end);
      if (line.startsWith("data: {")) yield JSON.parse(line.slice(6));
    }
  }
}

/** How drafts are to be made; nothing where nobody chose: the server then goes by its own settings, which the page shows in part. */
function speculation(method) {
  if (!page.chosen && method === $("method").value) return {};
  const rule = page.methods.find((one) => one.name === method);
  const speculative = method === "auto" ? { method } : { method, drafts: +$("drafts").value, length: +$("length").value };
  if (rule?.plan) speculative.plan = $("plan").value;
  if (method === "tree") speculative.tree = [speculative.drafts, ...Array(speculative.length - 1).fill(1)];
  return { speculative };
}

/** input: a prompt, or the messages of a conversation. */
function request(input, method) {
  const body = { stream: true, token_details: true, max_tokens: +$("limit").value, temperature: +$("temperature").value, ...speculation(method) };
  if ($("seed").value !== "") body.seed = +$("seed").value;
  if (Array.isArray(input)) return ["v1/chat/completions", { ...body, messages: input }];
  return ["v1/completions", { ...body, prompt: input }];
}

/** Asks for a text; `tell` sees every event. */
async function write(input, method, tell) {
  page.running = new AbortController();
  const [path, body] = request(input, method);
  const response = await fetch(path, { method: "POST", headers: headers(), body: JSON.stringify(body), signal: page.running.signal });
  if (!response.ok) throw await failure(response);
  for await (const event of events(response)) {
    if (event.error) throw new Error(event.error.message);
    tell(event);
  }
}

// --- What is shown ------------------------------------------------------------------------------------------

const mode = () => document.querySelector("input[name=mode]:checked").value;

function show(text, kind) {
  const span = document.createElement("span");
  span.className = kind;
  span.textContent = text;
  $("text").append(span);
  return span;
}

/** The tokens of an event, coloured. Bytes of a character that several tokens make wait for the last of them. */
function showTokens(tokens) {
  for (const token of tokens) {
    const text = token.bytes ? page.decoder.decode(new Uint8Array(token.bytes), { stream: true }) : token.text;
    const span = show(text, `token ${token.source}`);
    span.dataset.tip = describe(token);
  }
  $("text").scrollTop = $("text").scrollHeight;
}

function describe(token) {
  const percent = (p) => (p === null ? "–" : p >= 0.001 ? `${(100 * p).toFixed(1)} %` : p.toExponential(1));
  return `${token.source}   draft ${percent(token.draft_probability)}   target ${percent(token.target_probability)}`;
}

function showTip(span) {
  document.querySelector(".token.current")?.classList.remove("current");
  $("tip").hidden = !span?.dataset.tip;
  if ($("tip").hidden) return;
  span.classList.add("current");
  $("tip").textContent = span.dataset.tip;
  const box = span.getBoundingClientRect();
  $("tip").style.left = `${Math.min(box.left, innerWidth - $("tip").offsetWidth - 8)}px`;
  $("tip").style.top = `${box.bottom + 6}px`;
}

function showNumbers(event) {
  page.last = event;
  const metrics = event.metrics.speculative_decoding;
  const rows = [
    ["tokens", event.timings.predicted_n],
    ["target calls", metrics.num_spec_steps],
    ["tokens per call", metrics.mean_acceptance_length.toFixed(2)],
    ["drafted, accepted", `${metrics.num_draft_tokens}, ${metrics.num_accepted_draft_tokens}`],
    ["tokens per second", event.timings.predicted_per_second.toFixed(1)],
    ["plain decoding", page.plain === null ? "not measured" : page.plain.toFixed(1)],
    ["law", metrics.lossless ? "the target's, exactly" : "not the target's"],
    ["seed", event.seed],
  ];
  $("numbers").innerHTML = "";
  for (const [name, value] of rows) {
    for (const [tag, text] of [["dt", name], ["dd", value]]) {
      const element = document.createElement(tag);
      element.textContent = text;
      $("numbers").append(element);
    }
  }
}

// --- What is done -------------------------------------------------------------------------------------------

function busy(on) {
  $("send").disabled = $("compare").disabled = on;
  $("stop").disabled = !on;
  $("text").setAttribute("aria-busy", on);
}

function say(text) {
  $("status").textContent = text;
}

async function guarded(work) {
  busy(true);
  try {
    await work();
    say(page.ready);
  } catch (failed) {
    say(failed.name === "AbortError" ? "stopped" : failed.message);
  }
  busy(false);
}

async function ask() {
  const prompt = $("prompt").value;
  if (!prompt.trim()) return;
  const conversation = mode() === "chat" ? page.conversation : null;
  const shown = [];
  if (conversation) {
    conversation.push({ role: "user", content: prompt });
    shown.push(show(prompt, "said turn"), show("", "turn"));
    $("prompt").value = "";
  } else {
    $("text").textContent = "";
    show(prompt, "said");
  }
  showTip(null);
  page.decoder = new TextDecoder();
  let answer = "";
  page.speeds = [];
  const measured = { block: null, blocks: 0, place: 0, accepted: [], tokens: 0 };
  const tell = (event) => {
    const choice = event.choices?.[0];
    answer += choice?.delta?.content ?? choice?.text ?? "";
    if (choice?.token_details) {
      showTokens(choice.token_details);
      measure(measured, choice.token_details);
    }
    if (event.metrics) {
      acceptanceChart($("acceptance"), event.metrics.speculative_decoding.acceptance_per_position);
      showNumbers(event);
    }
  };
  await guarded(() => write(conversation ?? prompt, $("method").value, tell));
  if (!conversation) return;
  if (answer) return void conversation.push({ role: "assistant", content: answer });
  // Nothing came: the turn is taken back, so that it is not sent with the next one.
  conversation.pop();
  for (const span of shown) span.remove();
  $("prompt").value ||= prompt;
}

/** More tokens, perhaps of several blocks; in a block the draft's come first. The clock is the server's: events wait in line. */
function measure(measured, tokens) {
  if (!tokens.length) return;
  for (const token of tokens) {
    if (token.block !== measured.block) {
      measured.block = token.block;
      measured.blocks += 1;
      measured.place = 0;
    }
    if (token.source === "draft") measured.accepted[measured.place] = (measured.accepted[measured.place] ?? 0) + 1;
    measured.place += 1;
  }
  measured.tokens += tokens.length;
  page.speeds.push((1000 * measured.tokens) / tokens.at(-1).elapsed_ms);
  acceptanceChart($("acceptance"), Array.from(measured.accepted, (count) => (count ?? 0) / measured.blocks));
  speedChart($("speed"), page.speeds, page.plain);
}

async function comparePlain() {
  const beginning = "Once upon a time";
  const messages = page.conversation.length ? page.conversation : [{ role: "user", content: beginning }];
  const input = mode() === "chat" ? messages : $("prompt").value || beginning;
  await guarded(() => write(input, "plain", (event) => {
    if (event.timings) page.plain = event.timings.predicted_per_second;
  }));
  speedChart($("speed"), page.speeds, page.plain);
  if (page.last) showNumbers(page.last);
}

function chooseMethod() {
  const rule = page.methods.find((one) => one.name === $("method").value);
  $("summary").textContent = rule ? `${rule.summary}${rule.lossless ? "" : " (changes the law)"}` : "";
  $("plan").disabled = !rule?.plan;
  if (rule?.plan) $("plan").value = rule.plan;
  $("drafts").disabled = $("length").disabled = ["plain", "auto"].includes(rule?.name);
}

function fill(select, names) {
  select.replaceChildren(...names.map((name) => new Option(name, name)));
}

/** As the server was started; a limit of -1 is none, and the page keeps its own. */
function showDefaults({ speculative, temperature, n_predict }) {
  $("method").value = speculative.method;
  chooseMethod();
  if (speculative.plan) $("plan").value = speculative.plan;
  const numbers = { drafts: speculative.drafts, length: speculative.length, temperature, limit: n_predict > 0 ? n_predict : undefined };
  for (const [id, value] of Object.entries(numbers)) {
    if (value === undefined) continue;
    $(id).max = Math.max($(id).max, value);
    $(id).value = value;
    $(id).dispatchEvent(new Event("input"));
  }
  page.chosen = false;
}

const seconds = (count) => new Promise((resolve) => setTimeout(resolve, 1000 * count));

/** Learns what the server offers, as soon as its models are loaded; until then nothing can be asked. */
async function connect() {
  const ask = () => fetch("props", { headers: headers() });
  let response = await ask();
  for (; response.status === 503; response = await ask()) {
    say((await failure(response)).message);
    await seconds(+response.headers.get("Retry-After") || 1);
  }
  if (!response.ok) return say((await failure(response)).message);
  const props = await response.json();
  if (!page.methods.length) busy(false);
  page.methods = props.methods;
  page.ready = `${props.model}, ${props.total_slots} slots, ${props.n_ctx} tokens of context`;
  fill($("method"), props.methods.map((method) => method.name));
  fill($("plan"), props.plans);
  showDefaults(props.default_generation_settings.params);
  say(page.ready);
}

function chooseTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

chooseTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
acceptanceChart($("acceptance"), []);
speedChart($("speed"), [], null);
for (const input of document.querySelectorAll("input[type=range]")) {
  const output = document.querySelector(`output[for=${input.id}]`);
  const tell = () => (output.textContent = input.value);
  input.addEventListener("input", tell);
  tell();
}
$("method").addEventListener("change", chooseMethod);
for (const id of ["method", "plan", "drafts", "length"]) $(id).addEventListener("input", () => (page.chosen = true));
$("key").addEventListener("change", connect);
$("theme").addEventListener("click", () => chooseTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
$("stop").addEventListener("click", () => page.running?.abort());
$("compare").addEventListener("click", comparePlain);
$("clear").addEventListener("click", () => {
  page.conversation = [];
  $("text").textContent = "";
  showTip(null);
});
$("settings").addEventListener("submit", (event) => event.preventDefault());
$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!$("send").disabled) ask();
});
$("text").addEventListener("pointerover", (event) => showTip(event.target.closest(".token")));
for (const event of ["pointerleave", "blur", "scroll"]) $("text").addEventListener(event, () => showTip(null));
$("text").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const tokens = [...$("text").querySelectorAll(".token")];
  if (!step || !tokens.length) return;
  const at = tokens.indexOf(document.querySelector(".token.current"));
  showTip(tokens[Math.min(Math.max(at + step, 0), tokens.length - 1)]);
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") page.running?.abort();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("ask").requestSubmit();
});
connect().catch((failed) => say(failed.message));
