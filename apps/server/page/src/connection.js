// Fetches the server's properties as soon as its models are loaded. Nothing can be asked before that.
import { fetchProps } from "./server.js";
import { state, update } from "./state.js";

const longestWait = 10; // seconds
const seconds = (count) => new Promise((resolve) => setTimeout(resolve, 1000 * count));
let latest = 0;

const statusOf = (failure) =>
  failure.wait ? "loading" : [401, 403].includes(failure.status) ? "locked" : "away";

/** Retries until the server answers or requires a key. A later call supersedes an earlier one. */
export async function connect() {
  const mine = (latest += 1);
  for (let wait = 1; mine === latest; wait = Math.min(2 * wait, longestWait)) {
    try {
      const props = await fetchProps(state.settings.key, state.settings.model);
      if (mine !== latest) return;
      return update({ server: { status: "ready", message: "", props } });
    } catch (failure) {
      if (mine !== latest) return;
      update({ server: { ...state.server, status: statusOf(failure), message: failure.message } });
      if (state.server.status === "locked") return;
      await seconds(failure.wait ?? wait);
    }
  }
}
