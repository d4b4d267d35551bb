import { changeSettings } from "../library.js";
import { connect } from "../connection.js";
import { state } from "../state.js";

/** Asks for the server's key. Calls `then` when the server has accepted it. */
export function KeyForm({ then }) {
  const submit = async (event) => {
    event.preventDefault();
    changeSettings({ key: event.target.elements.key.value.trim() });
    await connect();
    if (state.server.status === "ready") then?.();
  };
  return (
    <form class="key" onSubmit={submit}>
      <input
        name="key"
        type="password"
        aria-label="API key"
        placeholder="API key"
        autocomplete="off"
        required
      />
      <button type="submit">Use key</button>
    </form>
  );
}
