// Calls of tools, which the user runs. An answer may have `calls`: `{ id, name, arguments }`, the arguments as JSON text. The
// message after it has the role "tool" and their `results`: `{ id, name, content }`.

/** Adds a delta of a stream to the calls of an answer. */
export function addCall(calls, { index, id, function: { name = "", arguments: more = "" } }) {
  const call = (calls[index] ??= { id: "", name: "", arguments: "" });
  call.id ||= id ?? "";
  call.name += name;
  call.arguments += more;
}

/** Returns the calls of an answer as fields of a request's message. */
export function sentCalls({ calls }) {
  if (!calls) return {};
  const tool_calls = calls.map(({ id, name, arguments: text }) => ({
    id,
    type: "function",
    function: { name, arguments: text },
  }));
  return { tool_calls };
}

/** Returns the messages of a request that hold the results of calls. */
export const sentResults = ({ results }) =>
  results.map(({ id, content }) => ({ role: "tool", tool_call_id: id, content }));
