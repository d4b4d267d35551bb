import { useMemo } from "preact/hooks";
import { answerAgain, continueAnswer, writeInstead } from "../answering.js";
import { TokenText } from "../colouring.js";
import { speedOf } from "../drafting.js";
import { indented } from "../json_text.js";
import { splitReasoning } from "../reasoning.js";
import { thinks } from "../requests.js";
import { state, update } from "../state.js";
import { fenced } from "../text_files.js";
import { Calls, ResultForm } from "./calls.jsx";
import { Editor } from "./editor.jsx";
import { ErrorCard } from "./error_card.jsx";
import { IconButton } from "./icon.jsx";
import { Markdown } from "./markdown.jsx";
import { Branches, ChangeButtons, CopyButton } from "./message.jsx";
import { isReading, PromptProgress } from "./prompt_progress.jsx";
import { Tokens } from "./tokens.jsx";

function Reasoning({ text, open }) {
  if (!text) return null;
  return (
    <details class="reasoning">
      <summary>{open ? "Thinking…" : "Reasoning"}</summary>
      <div>{text}</div>
    </details>
  );
}

const notes = {
  length: "Stopped at max tokens.",
  context: "The context is full.",
  stopped: "Stopped.",
  interrupted: "The page was closed while this was being written.",
  timeout: "The server’s time for this answer was over.",
  cancelled: "The server stopped.",
  edited: "Edited.",
};

/** Explains why the answer ended early, or that it is empty. */
function Ending({ answer, last, empty }) {
  const { finish, error } = answer;
  if (finish === null || error) return null;
  const note =
    empty && finish === "stop" ? "The answer is empty: the model ended it at once." : notes[finish];
  if (!note) return null;
  const goOn = last && !empty && !answer.calls && finish !== "context";
  return (
    <p class="ending soft">
      {note}{" "}
      {goOn && (
        <button type="button" onClick={() => continueAnswer(answer)}>
          Continue
        </button>
      )}
      {last && empty && (
        <button type="button" onClick={() => answerAgain(answer)}>
          Try again
        </button>
      )}
    </p>
  );
}

/** One line with speed and drafting statistics of the answer, which opens the details. */
function Speed({ answer }) {
  const { totals, tokens } = answer;
  const speed = speedOf(answer);
  const count = totals?.tokens ?? tokens?.length;
  if (!count || !Number.isFinite(speed)) return null;
  const parts = [`${count} ${count === 1 ? "token" : "tokens"}`, `${speed.toFixed(1)} tokens/s`];
  if (state.drafting && totals?.calls)
    parts.push(`${(totals.tokens / totals.calls).toFixed(2)} tokens per pass`);
  return (
    <button
      type="button"
      class="speed"
      title="Statistics"
      onClick={() => update({ chosen: answer.id, panel: "drafting" })}
    >
      {parts.join(" · ")}
    </button>
  );
}

/** Returns JSON as an indented block of code, and any other text unchanged. */
function withBlock(text) {
  const json = indented(text);
  return json === null ? text : fenced(json, "json");
}

/** The text of an answer. The drafting view colours its tokens and can render them as Markdown. */
function Text({ answer, text }) {
  const { tokens } = answer;
  const shown = useMemo(() => withBlock(text), [text]);
  if (!state.drafting || !tokens?.length) return <Markdown text={shown} />;
  const markdown = state.settings.markdown && new TokenText(tokens).text.includes(text);
  return <Tokens tokens={tokens} text={markdown ? text : undefined} />;
}

function Actions({ answer, text, last }) {
  const busy = state.running.has(state.current.id);
  return (
    <div class={last ? "actions shown" : "actions"}>
      <Branches message={answer} />
      {text.trim() && <CopyButton text={text} />}
      {last && !answer.error && (
        <IconButton icon="again" name="Regenerate" disabled={busy} onClick={() => answerAgain(answer)} />
      )}
      <ChangeButtons message={answer} />
    </div>
  );
}

/** An answer of the model. last: it is the last message. */
export function Answer({ message: answer, last }) {
  const running = state.running.get(state.current.id);
  const writing = running?.answer === answer;
  const { reasoning, text } = splitReasoning(answer, thinks(state.server.props));
  const empty = !text.trim() && !reasoning && !answer.calls;
  const reading = writing && isReading(running.progress);
  if (state.editing === answer.id)
    return (
      <article class="message assistant" aria-label="Assistant">
        <Editor
          text={text}
          label="Edit answer"
          action="Save"
          lines
          save={(content) => writeInstead(answer, content)}
        />
      </article>
    );
  const asTokens = state.drafting && answer.tokens?.length > 0 && !state.settings.markdown;
  return (
    <article class="message assistant" aria-label="Assistant" aria-busy={writing}>
      {!asTokens && <Reasoning text={reasoning} open={writing && !text} />}
      <Text answer={answer} text={text} />
      <Calls calls={answer.calls} />
      {reading && <PromptProgress progress={running.progress} />}
      {writing && !reading && <span class="caret" role="img" aria-label="being written" />}
      <Ending answer={answer} last={last} empty={empty} />
      {answer.error && <ErrorCard answer={answer} last={last && !running} />}
      <Speed answer={answer} />
      {!writing && <Actions answer={answer} text={text} last={last} />}
      {!running && last && answer.calls && <ResultForm answer={answer} />}
    </article>
  );
}
