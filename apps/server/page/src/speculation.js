// Speculation settings: the method, the plan, and K draft sequences of L tokens each, as in the request field `speculative`.

const usual = { drafts: 4, length: 4 };

/** Returns the settings in effect: those chosen here, or else the server's. */
export function speculationOf(settings, props) {
  return (
    settings.speculative ?? props?.default_generation_settings?.params?.speculative ?? { method: "plain" }
  );
}

/** Returns the server's description of a method: summary, plan (empty if it has none), lossless, drafts. */
export const ruleOf = (props, method) => props?.methods.find((rule) => rule.name === method);

/** Returns true if the server is known to have no draft model. */
export const lacksDraftModel = (props) => props?.draft_models === 0;

/** Returns true for methods that choose the draft shape themselves or do not draft. */
export const choosesShape = (method) => ["plain", "auto"].includes(method);

/** Returns K and L, with defaults if the method does not report them. */
export const shapeOf = (speculation) => ({ ...usual, ...speculation });

function withTree(speculation) {
  if (speculation.method !== "tree") return speculation;
  const { drafts, length } = speculation;
  return { ...speculation, tree: [drafts, ...Array(length - 1).fill(1)] };
}

/** Selects another method and keeps the previous draft shape. */
export function chooseMethod(settings, props, method) {
  const { drafts, length } = shapeOf(speculationOf(settings, props));
  const plan = ruleOf(props, method)?.plan;
  if (choosesShape(method)) return void (settings.speculative = { method });
  settings.speculative = withTree({ method, drafts, length, ...(plan ? { plan } : {}) });
}

/** Selects another plan, K or L for the same method. Other settings are kept. */
export function chooseShape(settings, props, change) {
  settings.speculative = withTree({ ...shapeOf(speculationOf(settings, props)), ...change });
}
