// Fetches the server's properties as soon as its models are loaded. Nothing can be asked before that.
import { Failure, fetchObject, loadModel } from "./server.js";
import { state, update } from "./state.js";

const longestWait = 10; // seconds
const seconds = (count) => new Promise((resolve) => setTimeout(resolve, 1000 * count));
let latest = 0;

const notLoaded = "model_error";

function statusOf({ wait, status, type }) {
  if (wait) return "loading";
  if (type === notLoaded) return "failed";
  return [401, 403].includes(status) ? "locked" : "away";
}

/** Returns the model that the user chose, or else one that is loaded, or one whose loading has not failed. */
const choose = (models, wanted) =>
  models.find(({ id }) => id === wanted) ??
  models.find(({ status }) => status.value === "loaded") ??
  models.find(({ status }) => !status.failed) ??
  models[0];

/**
 * Returns the properties of one of several models. Begins to load it unless it is in `begun`, and then throws a Failure until
 * it is loaded.
 */
async function propsOfModel(models, { id, status }, begun) {
  const { key } = state.settings;
  update({ server: { ...state.server, models: models.map((model) => model.id), model: id } });
  if (status.value === "loaded") return fetchObject(`props?model=${encodeURIComponent(id)}`, key);
  if (status.value === "unloaded") {
    if (status.failed && begun.has(id)) throw new Failure(status.error, { type: notLoaded });
    begun.add(id);
    await loadModel(id, key);
  }
  throw Object.assign(new Failure(`${id} is being loaded.`), { wait: 1 });
}

/** Retries until the server answers, requires a key, or cannot load the model. A later call supersedes an earlier one. */
export async function connect() {
  const mine = (latest += 1);
  const begun = new Set();
  for (let wait = 1; mine === latest; wait = Math.min(2 * wait, longestWait)) {
    const { key, model } = state.settings;
    try {
      let props = await fetchObject("props", key);
      const several = props.role === "router";
      const models = several ? (await fetchObject("v1/models", key)).data : null;
      if (mine !== latest) return;
      if (several) props = await propsOfModel(models, choose(models, model), begun);
      else state.server.models = null;
      if (mine !== latest) return;
      return update({ server: { ...state.server, status: "ready", message: "", props } });
    } catch (failure) {
      if (mine !== latest) return;
      update({ server: { ...state.server, status: statusOf(failure), message: failure.message } });
      if (["locked", "failed"].includes(state.server.status)) return;
      await seconds(failure.wait ?? wait);
    }
  }
}
