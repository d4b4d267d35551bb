import { answerAgain, continueAnswer } from "../answering.js";
import { startConversation } from "../library.js";
import { update } from "../state.js";
import { KeyForm } from "./key_form.jsx";

function titleOf({ status, type }) {
  if (type === "exceed_context_size_error") return "This is longer than the context";
  if (status === 401) return "The server wants an API key";
  if ([429, 503].includes(status)) return "The server is busy";
  return status === 0 ? "The server cannot be reached" : "This could not be answered";
}

/** Returns true if a setting may be the cause: the server rejected a field, or the page could not send it. */
const mayBeSetting = ({ status, type }) =>
  type !== "exceed_context_size_error" && [400, undefined].includes(status);

/** Shows the error of an answer in its place, and possible remedies. */
export function ErrorCard({ answer, last }) {
  const { error } = answer;
  const again = () => (answer.content ? continueAnswer(answer) : answerAgain(answer));
  return (
    <div class="card wrong" role="alert">
      <strong>{titleOf(error)}</strong>
      <p>{error.message}</p>
      {last &&
        (error.status === 401 ? (
          <KeyForm then={again} />
        ) : (
          <div class="choices">
            <button type="button" onClick={again}>
              {answer.content ? "Continue" : "Try again"}
            </button>
            {error.type === "exceed_context_size_error" && (
              <button type="button" onClick={startConversation}>
                New chat
              </button>
            )}
            {mayBeSetting(error) && (
              <button type="button" onClick={() => update({ panel: "settings" })}>
                Settings
              </button>
            )}
          </div>
        ))}
    </div>
  );
}
