// How drafts are made: the method, the plan, K draft sequences of L tokens each, as the request's field `speculative` says it.

const usual = { drafts: 4, length: 4 };

/** What holds: what was chosen here, else what the server was started with. */
export function speculationOf(settings, props) {
  return (
    settings.speculative ?? props?.default_generation_settings?.params?.speculative ?? { method: "plain" }
  );
}

/** The method of that name, as the server tells it: summary, plan (empty: it has none), lossless, drafts. */
export const ruleOf = (props, method) => props?.methods.find((rule) => rule.name === method);

/** Whether the server is known to have no draft model. */
export const lacksDraftModel = (props) => props?.draft_models === 0;

/** Methods that choose the shape of drafts themselves, or have none. */
export const choosesShape = (method) => ["plain", "auto"].includes(method);

/** K and L, also where the method has not told them. */
export const shapeOf = (speculation) => ({ ...usual, ...speculation });

function withTree(speculation) {
  if (speculation.method !== "tree") return speculation;
  const { drafts, length } = speculation;
  return { ...speculation, tree: [drafts, ...Array(length - 1).fill(1)] };
}

/** Another method, with the shape that was chosen before. */
export function chooseMethod(settings, props, method) {
  const { drafts, length } = shapeOf(speculationOf(settings, props));
  const plan = ruleOf(props, method)?.plan;
  if (choosesShape(method)) return void (settings.speculative = { method });
  settings.speculative = withTree({ method, drafts, length, ...(plan ? { plan } : {}) });
}

/** Another plan, K or L of the same method; what else it was told stays. */
export function chooseShape(settings, props, change) {
  settings.speculative = withTree({ ...shapeOf(speculationOf(settings, props)), ...change });
}
