// Has answers written, as the server's events come in.
import { connect } from "./connection.js";
import { addMessage } from "./conversation.js";
import { addTotals, TokenReader } from "./drafting.js";
import { preserve, tell } from "./library.js";
import { splitReasoning } from "./reasoning.js";
import { requestFor, thinks } from "./requests.js";
import { Failure, streamOf } from "./server.js";
import { changed, state, update } from "./state.js";

const keepEvery = 3000; // milliseconds, while an answer is being written

/** Takes up the events of one answer. */
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
  const [path, body] = requestFor(conversation, end, state.settings, state.server.props);
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
  length: "Stopped at max tokens",
  context: "The context is full",
  stopped: "Stopped",
};

/** Writes an answer to the message `asked`, or goes on with the answer `continued`. */
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

/** Sends a message of the user and has it answered. */
export function send(text, files = []) {
  const conversation = state.current;
  return write(conversation, addMessage(conversation, conversation.leaf, question(text, files)));
}

/** Sends another text in the place of a message, with the same files; the old branch stays. */
export function sendInstead(message, text) {
  const conversation = state.current;
  update({ editing: null });
  return write(conversation, addMessage(conversation, message.parent, question(text, message.files)));
}

/** Has a message answered that has no answer. */
export function answerTo(message) {
  return write(state.current, message);
}

/** Puts another text in the place of an answer; the old one stays beside it. */
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

/** Has a message answered another time; the old answer stays beside the new one, unless it was but an error. */
export function answerAgain(answer) {
  const conversation = state.current;
  const asked = conversation.messages[answer.parent];
  if (answer.error && !answer.content) delete conversation.messages[answer.id];
  return write(conversation, asked);
}

export function continueAnswer(answer) {
  return write(state.current, state.current.messages[answer.parent], answer);
}

/** Has the same answer written by plain decoding, unseen: how fast is the target alone? */
export async function measurePlain(answer) {
  const conversation = state.current;
  const controller = new AbortController();
  update({ measuring: { answer, controller } });
  try {
    const asked = conversation.messages[answer.parent];
    const [path, body] = requestFor(conversation, asked, state.settings, state.server.props);
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
