import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { answerAgain, continueAnswer, sendInstead } from "../answering.js";
import { showBranch, siblingsOf } from "../conversation.js";
import { copyText } from "../copy.js";
import { speedOf } from "../drafting.js";
import { preserve } from "../library.js";
import { blocksOf } from "../markdown.js";
import { splitReasoning } from "../reasoning.js";
import { thinks } from "../requests.js";
import { changed, state, update } from "../state.js";
import { fitHeight, sends } from "./composer.jsx";
import { ErrorCard } from "./error_card.jsx";
import { IconButton } from "./icon.jsx";
import { Tokens } from "./tokens.jsx";

/** Steps through messages that stand in each other's place. */
function Branches({ message }) {
  const all = siblingsOf(state.current, message);
  const at = all.indexOf(message);
  if (all.length < 2) return null;
  const step = (by) => {
    showBranch(state.current, all[at + by]);
    preserve(state.current);
    changed();
  };
  return (
    <span class="branches">
      <IconButton icon="left" name="Previous version" disabled={at === 0} onClick={() => step(-1)} />
      <span>
        {at + 1} of {all.length}
      </span>
      <IconButton icon="right" name="Next version" disabled={at === all.length - 1} onClick={() => step(1)} />
    </span>
  );
}

function CopyButton({ text }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    setCopied(await copyText(text));
    setTimeout(() => setCopied(false), 2000);
  };
  return <IconButton icon={copied ? "done" : "copy"} name={copied ? "Copied" : "Copy"} onClick={copy} />;
}

function Editor({ message }) {
  const field = useRef();
  const close = () => update({ editing: null });
  const submit = (event) => {
    event.preventDefault();
    if (field.current.value.trim()) sendInstead(message, field.current.value);
  };
  useLayoutEffect(() => {
    fitHeight(field.current);
    field.current.focus();
    field.current.setSelectionRange(message.content.length, message.content.length);
  }, []);
  return (
    <form class="editor" onSubmit={submit}>
      <textarea
        ref={field}
        aria-label="Edit message"
        defaultValue={message.content}
        onInput={() => fitHeight(field.current)}
        onKeyDown={(event) => sends(event) && submit(event)}
      />
      <div class="choices">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" class="main">
          Send
        </button>
      </div>
    </form>
  );
}

function UserMessage({ message }) {
  const busy = state.running.has(state.current.id);
  if (state.editing === message.id)
    return (
      <article class="message user" aria-label="You">
        <Editor message={message} />
      </article>
    );
  return (
    <article class="message user" aria-label="You">
      <div class="said">{message.content}</div>
      <div class="actions">
        <Branches message={message} />
        <CopyButton text={message.content} />
        <IconButton icon="edit" name="Edit" disabled={busy} onClick={() => update({ editing: message.id })} />
      </div>
    </article>
  );
}

function Reasoning({ text, open }) {
  if (!text) return null;
  return (
    <details class="reasoning">
      <summary>{open ? "Thinking…" : "Reasoning"}</summary>
      <div>{text}</div>
    </details>
  );
}

function Markdown({ text }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div class="markdown">
      {blocks.map((html, i) => (
        <div key={i} dangerouslySetInnerHTML={{ __html: html }} />
      ))}
    </div>
  );
}

const notes = {
  length: "Stopped at max tokens.",
  context: "The context is full.",
  stopped: "Stopped.",
  interrupted: "The page was closed while this was being written.",
  timeout: "The server’s time for this answer was over.",
  cancelled: "The server stopped.",
};

/** Why the answer ended where that is not its own end, and that it is empty where it is. */
function Ending({ answer, last, empty }) {
  const { finish, error } = answer;
  if (finish === null || error) return null;
  const note =
    empty && finish === "stop" ? "The answer is empty: the model ended it at once." : notes[finish];
  if (!note) return null;
  const goOn = last && !empty && finish !== "context";
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

/** What drafting brought, in one line that leads to more of it. */
function Brought({ answer }) {
  const { totals } = answer;
  const speed = speedOf(answer);
  if (!totals || !state.drafting) return null;
  return (
    <button type="button" class="brought" onClick={() => update({ chosen: answer.id, panel: "drafting" })}>
      {(totals.tokens / totals.calls).toFixed(2)} tokens per pass · {speed?.toFixed(1)} tokens per second
    </button>
  );
}

function AssistantMessage({ message, last }) {
  const running = state.running.get(state.current.id);
  const writing = running?.answer === message;
  const { reasoning, text } = splitReasoning(message, thinks(state.server.props));
  const empty = !text.trim() && !reasoning;
  const coloured = state.drafting && message.tokens?.length > 0;
  return (
    <article class="message assistant" aria-label="Assistant" aria-busy={writing}>
      {!coloured && <Reasoning text={reasoning} open={writing && !text} />}
      {coloured ? <Tokens tokens={message.tokens} /> : <Markdown text={text} />}
      {writing && <span class="caret" role="img" aria-label="being written" />}
      <Ending answer={message} last={last} empty={empty} />
      {message.error && <ErrorCard answer={message} last={last && !running} />}
      <Brought answer={message} />
      {!writing && (
        <div class={last ? "actions shown" : "actions"}>
          <Branches message={message} />
          {!empty && <CopyButton text={text} />}
          {last && !message.error && (
            <IconButton
              icon="again"
              name="Regenerate"
              disabled={Boolean(running)}
              onClick={() => answerAgain(message)}
            />
          )}
        </div>
      )}
    </article>
  );
}

export function Message({ message, last }) {
  return message.role === "user" ? (
    <UserMessage message={message} />
  ) : (
    <AssistantMessage message={message} last={last} />
  );
}
