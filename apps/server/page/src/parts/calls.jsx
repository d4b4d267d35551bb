import { answerTo, sendResults } from "../answering.js";
import { indented } from "../json_text.js";
import { deleteMessage } from "../library.js";
import { state } from "../state.js";
import { Icon, IconButton } from "./icon.jsx";
import { Branches } from "./message.jsx";

/** A folded text, indented if it is JSON. */
function Folded({ title, label, text }) {
  return (
    <details class="file">
      <summary>
        <Icon name="right" />
        {title}
      </summary>
      <pre tabindex="0" aria-label={label}>
        {indented(text) ?? text}
      </pre>
    </details>
  );
}

/** The tool calls of an answer. */
export function Calls({ calls = [] }) {
  return calls.map(({ name, arguments: text }, i) => (
    <Folded key={i} title={`Call of ${name}`} label={`Arguments of ${name}`} text={text} />
  ));
}

/** Asks the user for the results of the calls of an answer. */
export function ResultForm({ answer }) {
  const submit = (event) => {
    event.preventDefault();
    sendResults(answer, new FormData(event.target).getAll("result"));
  };
  return (
    <form class="results" onSubmit={submit}>
      {answer.calls.map(({ name }, i) => (
        <label key={i}>
          Result of {name}
          <textarea name="result" class="code" rows="2" spellcheck={false} />
        </label>
      ))}
      <button type="submit" class="main" disabled={state.server.status !== "ready"}>
        Send {answer.calls.length === 1 ? "result" : "results"}
      </button>
    </form>
  );
}

/** The results of tool calls. last: they are the last message and can be answered. */
export function Results({ message, last }) {
  const busy = state.running.has(state.current.id);
  return (
    <article class="message results" aria-label="Tools">
      {message.results.map(({ name, content }, i) => (
        <Folded key={i} title={`Result of ${name}`} label={`Text of ${name}`} text={content} />
      ))}
      <div class="actions">
        <Branches message={message} />
        <IconButton
          icon="delete"
          name="Delete"
          disabled={busy}
          onClick={() => deleteMessage(state.current, message)}
        />
        {last && !busy && <IconButton icon="again" name="Answer" onClick={() => answerTo(message)} />}
      </div>
    </article>
  );
}
