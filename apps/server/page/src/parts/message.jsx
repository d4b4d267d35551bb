import { useState } from "preact/hooks";
import { answerTo, sendInstead } from "../answering.js";
import { showBranch, siblingsOf } from "../conversation.js";
import { copyText } from "../copy.js";
import { deleteMessage, preserve } from "../library.js";
import { changed, state, update } from "../state.js";
import { Editor } from "./editor.jsx";
import { SentFiles } from "./files.jsx";
import { IconButton } from "./icon.jsx";

/** Switches between siblings of a message. */
export function Branches({ message }) {
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

export function CopyButton({ text }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    setCopied(await copyText(text));
    setTimeout(() => setCopied(false), 2000);
  };
  return <IconButton icon={copied ? "done" : "copy"} name={copied ? "Copied" : "Copy"} onClick={copy} />;
}

/** Buttons to edit or delete a message. Disabled while an answer is being streamed. */
export function ChangeButtons({ message }) {
  const busy = state.running.has(state.current.id);
  return (
    <>
      <IconButton icon="edit" name="Edit" disabled={busy} onClick={() => update({ editing: message.id })} />
      <IconButton
        icon="delete"
        name="Delete"
        disabled={busy}
        onClick={() => deleteMessage(state.current, message)}
      />
    </>
  );
}

/** A user message. last: it is the last message and can be answered. */
export function UserMessage({ message, last }) {
  const { content, files } = message;
  const busy = state.running.has(state.current.id);
  if (state.editing === message.id)
    return (
      <article class="message user" aria-label="You">
        <SentFiles files={files} />
        <Editor
          text={content}
          label="Edit message"
          action="Send"
          mayBeEmpty={Boolean(files?.length)}
          save={(text) => sendInstead(message, text)}
        />
      </article>
    );
  return (
    <article class="message user" aria-label="You">
      <SentFiles files={files} />
      {content && <div class="said">{content}</div>}
      <div class="actions">
        <Branches message={message} />
        {content && <CopyButton text={content} />}
        <ChangeButtons message={message} />
        {last && !busy && <IconButton icon="again" name="Answer" onClick={() => answerTo(message)} />}
      </div>
    </article>
  );
}
