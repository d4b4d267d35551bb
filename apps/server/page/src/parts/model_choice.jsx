import { connect } from "../connection.js";
import { changeSettings } from "../library.js";
import { state } from "../state.js";
import { Choice } from "./choice.jsx";

/** Selects one of several models of the server. id: of the element, which may be on the page twice. */
export function ModelChoice({ id }) {
  const { models, model } = state.server;
  if (!models) return null;
  const change = (name) => (changeSettings({ model: name }), connect());
  return <Choice id={id} label="Model" value={model} options={models} change={change} />;
}
