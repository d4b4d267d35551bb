// Has answers written, as the server's events come in.
import { connect } from "./connection.js";
import { addMessage } from "./conversation.js";
import { addTotals, TokenReader } from "./drafting.js";
import { preserve, tell } from "./library.js";
import { requestFor } from "./requests.js";
import { Failure, streamOf } from "./server.js";
import { changed, state, update } from "./state.js";

const keepEvery = 3000; // milliseconds, while an answer is being written

/** Takes up the events of one answer. */
class AnswerWriter {
  #answer;
  #reader;

  constructor(answer) {
    this.#answer = answer;
    this.#reader = new TokenReader((answer.tokens ??= []));
  }

  take(event) {
    const answer = this.#answer;
    const choice = event.choices?.[0];
    answer.content += choice?.delta?.content ?? choice?.text ?? "";
    answer.reasoning += choice?.delta?.reasoning_content ?? "";
    if (choice?.token_details) answer.tokens.push(...this.#reader.read(choice.token_details));
    if (choice?.finish_reason) answer.finish = choice.finish_reason;
    if (!event.usage) return;
    answer.usage = event.usage;
    answer.seed = event.seed;
    if (event.metrics) answer.totals = addTotals(answer.totals, event);
    if (answer.finish === "length" && event.usage.total_tokens >= state.server.props?.n_ctx)
      answer.finish = "context";
  }
}

const streamed = { token_details: true, stream_options: { include_usage: true } };

async function readAnswer(conversation, end, answer, signal) {
  const [path, body] = requestFor(conversation, end, state.settings, state.server.props);
  const writer = new AnswerWriter(answer);
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
  const controller = new AbortController();
  state.running.set(conversation.id, { controller, answer, conversation });
  update({ chosen: null });
  preserve(conversation);
  const timer = setInterval(() => preserve(conversation), keepEvery);
  try {
    await readAnswer(conversation, continued ?? asked, answer, controller.signal);
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

/** Sends a message of the user and has it answered. */
export function send(text) {
  const conversation = state.current;
  update({ unsent: "" });
  return write(conversation, addMessage(conversation, conversation.leaf, { role: "user", content: text }));
}

/** Sends another text in the place of a message; the old branch stays. */
export function sendInstead(message, text) {
  const conversation = state.current;
  update({ editing: null });
  return write(conversation, addMessage(conversation, message.parent, { role: "user", content: text }));
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
