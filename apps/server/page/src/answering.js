// Requests answers and processes the events of their streams.
import { addCall } from "./calls.js";
import { connect } from "./connection.js";
import { addMessage } from "./conversation.js";
import { addTotals, TokenReader } from "./drafting.js";
import { preserve, tell } from "./library.js";
import { splitReasoning } from "./reasoning.js";
import { requestFor, thinks } from "./requests.js";
import { Failure, streamOf } from "./server.js";
import { changed, state, update } from "./state.js";

const keepEvery = 3000; // in milliseconds, while an answer is streamed

/** Applies the events of a stream to an answer. */
class AnswerWriter {
  #answer;
  #running;
  #reader;

  constructor(answer, running) {
    this.#answer = answer;
    this.#running = running;
    this.#reader = new TokenReader((answer.tokens ??= []));
  }

  take(event) {
    const answer = this.#answer;
    const choice = event.choices?.[0];
    this.#running.progress = event.prompt_progress;
    answer.content += choice?.delta?.content ?? choice?.text ?? "";
    answer.reasoning += choice?.delta?.reasoning_content ?? "";
    for (const call of choice?.delta?.tool_calls ?? []) addCall((answer.calls ??= []), call);
    if (choice?.token_details && !answer.edited)
      answer.tokens.push(...this.#reader.read(choice.token_details));
    if (choice?.finish_reason) answer.finish = choice.finish_reason;
    if (!event.usage) return;
    answer.usage = event.usage;
    answer.seed = event.seed;
    if (event.metrics && event.timings) answer.totals = addTotals(answer.totals, event);
    if (answer.finish === "length" && event.usage.total_tokens >= state.server.props?.n_ctx)
      answer.finish = "context";
  }
}

const streamed = { token_details: true, return_progress: true, stream_options: { include_usage: true } };

async function readAnswer(end, running) {
  const { conversation, answer, controller } = running;
  const [path, body] = requestFor(conversation, end, state.settings, state.server);
  const writer = new AnswerWriter(answer, running);
  const { signal } = controller;
  for await (const event of streamOf(path, { ...body, ...streamed }, { key: state.settings.key, signal })) {
    writer.take(event);
    changed();
  }
  if (!answer.finish) throw new Failure("The connection to the server broke off.");
}

const endings = {
  stop: "Answer complete",
  tool_calls: "The model calls a tool",
  length: "Stopped at max tokens",
  context: "The context is full",
  stopped: "Stopped",
};

/** Generates an answer to the message `asked`, or continues the answer `continued`. */
async function write(conversation, asked, continued) {
  if (state.running.has(conversation.id)) return;
  const answer =
    continued ?? addMessage(conversation, asked.id, { role: "assistant", content: "", reasoning: "" });
  Object.assign(answer, { finish: null, error: null });
  conversation.leaf = answer.id;
  const running = { controller: new AbortController(), answer, conversation };
  state.running.set(conversation.id, running);
  update({ chosen: null });
  preserve(conversation);
  const timer = setInterval(() => preserve(conversation), keepEvery);
  try {
    await readAnswer(continued ?? asked, running);
    state.announcement = endings[answer.finish] ?? "";
  } catch (failed) {
    if (state.leaving) return;
    const stopped = failed.name === "AbortError";
    answer.finish = stopped ? "stopped" : "failed";
    if (!stopped) answer.error = { message: failed.message, status: failed.status, type: failed.type };
    state.announcement = stopped ? endings.stopped : "";
    if (failed.status === 0 || failed.status === 503) connect();
  } finally {
    clearInterval(timer);
    state.running.delete(conversation.id);
    await preserve(conversation);
  }
}

const question = (content, files) => ({ role: "user", content, ...(files?.length ? { files } : {}) });

/** Sends a user message and generates its answer. */
export function send(text, files = []) {
  const conversation = state.current;
  return write(conversation, addMessage(conversation, conversation.leaf, question(text, files)));
}

/** Sends an edited message with the same files as a new branch; the old branch is kept. */
export function sendInstead(message, text) {
  const conversation = state.current;
  update({ editing: null });
  return write(conversation, addMessage(conversation, message.parent, question(text, message.files)));
}

/** Sends the results of the calls of an answer, in their order. */
export function sendResults(answer, texts) {
  const conversation = state.current;
  const results = answer.calls.map(({ id, name }, i) => ({ id, name, content: texts[i] }));
  return write(
    conversation,
    addMessage(conversation, answer.id, { role: "tool", content: texts.join("\n"), results }),
  );
}

/** Generates an answer to a message that has none. */
export function answerTo(message) {
  return write(state.current, message);
}

/** Adds an edited version of an answer as its sibling; the old one is kept. */
export function writeInstead(answer, content) {
  const conversation = state.current;
  const { reasoning } = splitReasoning(answer, thinks(state.server.props));
  update({ editing: null });
  addMessage(conversation, answer.parent, {
    role: "assistant",
    content,
    reasoning,
    finish: "edited",
    edited: true,
  });
  return preserve(conversation);
}

/** Regenerates the answer to a message. The old answer is kept, unless it consists of an error only. */
export function answerAgain(answer) {
  const conversation = state.current;
  const asked = conversation.messages[answer.parent];
  if (answer.error && !answer.content) delete conversation.messages[answer.id];
  return write(conversation, asked);
}

export function continueAnswer(answer) {
  return write(state.current, state.current.messages[answer.parent], answer);
}

/** Repeats the answer with plain decoding in the background, to measure the speed of the target alone. */
export async function measurePlain(answer) {
  const conversation = state.current;
  const controller = new AbortController();
  update({ measuring: { answer, controller } });
  try {
    const asked = conversation.messages[answer.parent];
    const [path, body] = requestFor(conversation, asked, state.settings, state.server);
    const plain = {
      ...body,
      speculative: { method: "plain" },
      seed: answer.seed,
      max_tokens: answer.totals?.tokens,
    };
    for await (const event of streamOf(path, plain, { key: state.settings.key, signal: controller.signal })) {
      if (event.timings) answer.plain = event.timings.predicted_per_second;
    }
  } catch (failed) {
    if (failed.name !== "AbortError") tell(failed.message);
  }
  update({ measuring: null });
  await preserve(conversation);
}
