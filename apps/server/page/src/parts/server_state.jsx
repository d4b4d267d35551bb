import { connect } from "../connection.js";
import { state } from "../state.js";
import { KeyForm } from "./key_form.jsx";
import { ModelChoice } from "./model_choice.jsx";

const titles = {
  loading: "The server is getting ready",
  locked: "The server wants an API key",
  failed: "The model cannot be loaded",
  away: "The server cannot be reached",
};

/** Explains why no question can be asked, in the place of the answer. */
export function ServerState() {
  const { status, message } = state.server;
  if (!titles[status]) return null;
  return (
    <div class={`card ${status === "loading" ? "" : "wrong"}`} role="alert">
      <strong>{titles[status]}</strong>
      <p>{status === "away" ? "It is asked again every few seconds." : message}</p>
      {status === "locked" && <KeyForm />}
      {status === "failed" && (
        <>
          <ModelChoice id="other-model" />
          <div class="choices">
            <button type="button" onClick={connect}>
              Try again
            </button>
          </div>
        </>
      )}
    </div>
  );
}
