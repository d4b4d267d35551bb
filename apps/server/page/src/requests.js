// What is sent to have an answer written.
import { messagesTo, pathTo } from "./conversation.js";
import { fieldsOf } from "./settings.js";
import { textWithFiles } from "./text_files.js";

/** Whether the model's template knows tags around what the model thinks. */
export const thinks = (props) => Boolean(props?.chat_template?.includes("</think>"));

/**
 * Path and body that ask for an answer to the message `end`; where that is an answer itself, for more of it. Throws an
 * Error for the user where a setting cannot be sent.
 */
export function requestFor(conversation, end, settings, props) {
  const chat = conversation.mode === "chat";
  const fields = fieldsOf(settings, chat);
  if (chat)
    return ["v1/chat/completions", { ...fields, messages: messagesTo(conversation, end, thinks(props)) }];
  const [asked, answer] = end.role === "user" ? [end] : [pathTo(conversation, end.id).at(-2), end];
  return ["v1/completions", { ...fields, prompt: textWithFiles(asked, false) + (answer?.content ?? "") }];
}
