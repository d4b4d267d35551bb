// Requests for answers.
import { messagesTo, pathTo } from "./conversation.js";
import { fieldsOf } from "./settings.js";
import { textWithFiles } from "./text_files.js";

/** Returns true if the model's chat template uses tags around reasoning. */
export const thinks = (props) => Boolean(props?.chat_template?.includes("</think>"));

/**
 * Returns path and body of a request for an answer to the message `end`, or, if it is an answer, for its continuation.
 * Throws an Error with a user-facing message if a setting is invalid.
 */
export function requestFor(conversation, end, settings, { props, models, model }) {
  const chat = conversation.mode === "chat";
  const fields = { ...fieldsOf(settings, chat), ...(models ? { model } : {}) };
  if (chat)
    return ["v1/chat/completions", { ...fields, messages: messagesTo(conversation, end, thinks(props)) }];
  const [asked, answer] = end.role === "user" ? [end] : [pathTo(conversation, end.id).at(-2), end];
  return ["v1/completions", { ...fields, prompt: textWithFiles(asked, false) + (answer?.content ?? "") }];
}
