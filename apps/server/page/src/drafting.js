// Sources of tokens and statistics of drafting. A token is stored as a list: its text, its source, its probabilities
// under the draft and the target, its block, and the decoding time in milliseconds up to it.
const text = 0;
const source = 1;
const draft = 2;
const target = 3;
const block = 4;
const elapsed = 5;

export const sources = {
  draft: { name: "accepted draft", says: "Drafted, and accepted" },
  correction: { name: "correction", says: "Correction, after the drafts were rejected" },
  bonus: { name: "bonus", says: "Bonus, after all of a draft was accepted" },
  target: { name: "target alone", says: "From the target alone" },
};

export const textOf = (token) => token[text];
export const sourceOf = (token) => token[source];

/** Converts the API's token_details to tokens that follow those before. Bytes of a split character go to its last token. */
export class TokenReader {
  #decoder = new TextDecoder();
  #last;

  constructor(tokens) {
    this.#last = tokens.at(-1);
  }

  read(details) {
    const [blocks, time] = this.#last ? [this.#last[block], this.#last[elapsed]] : [0, 0];
    return details.map((one) => [
      one.bytes ? this.#decoder.decode(new Uint8Array(one.bytes), { stream: true }) : one.text,
      one.source,
      one.draft_probability,
      one.target_probability,
      one.block + blocks + (this.#last ? 1 : 0),
      one.elapsed_ms + time,
    ]);
  }
}

function percent(probability) {
  if (probability === null || probability === undefined) return "–";
  return probability >= 0.001
    ? `${(100 * probability).toFixed(1)} %`
    : `${(100 * probability).toExponential(1)} %`;
}

/** Returns the lines of a token's tooltip. */
export function describe(token) {
  return [
    sources[token[source]]?.says ?? token[source],
    `draft ${percent(token[draft])} · target ${percent(token[target])}`,
  ];
}

/** Returns, for each position in a block, the share of blocks in which a draft token was accepted there. */
export function acceptanceOf(tokens) {
  const accepted = [];
  let blocks = 0;
  let place = 0;
  let last = null;
  for (const token of tokens) {
    if (token[block] !== last) {
      last = token[block];
      blocks += 1;
      place = 0;
    }
    if (token[source] === "draft") accepted[place] = (accepted[place] ?? 0) + 1;
    place += 1;
  }
  return Array.from(accepted, (count) => (count ?? 0) / blocks);
}

/** Adds the statistics of a request's last event to the totals of an answer, which may have been continued. */
export function addTotals(totals, { timings, metrics }) {
  const { num_spec_steps, num_draft_tokens, num_accepted_draft_tokens, lossless, method, plan } =
    metrics.speculative_decoding;
  const before = totals ?? { tokens: 0, ms: 0, calls: 0, drafted: 0, accepted: 0, lossless: true };
  return {
    tokens: before.tokens + timings.predicted_n,
    ms: before.ms + timings.predicted_ms,
    calls: before.calls + num_spec_steps,
    drafted: before.drafted + num_draft_tokens,
    accepted: before.accepted + num_accepted_draft_tokens,
    lossless: before.lossless && lossless,
    method,
    plan,
  };
}

/** Returns the tokens per second of an answer: the server's value or, before it arrives, an estimate. */
export function speedOf({ tokens = [], totals }) {
  if (totals?.ms > 0) return (1000 * totals.tokens) / totals.ms;
  const last = tokens.at(-1);
  return last?.[elapsed] > 0 ? (1000 * tokens.length) / last[elapsed] : null;
}

const pointsOfCurve = 60;

/**
 * Returns the cumulative speed after each block, thinned out for a small chart. The time between blocks is known only for
 * the whole answer and is distributed over all of them, so that the last value equals `speedOf`.
 */
export function speedsOf(message) {
  const tokens = message.tokens ?? [];
  const ends = [];
  for (const [i, token] of tokens.entries()) {
    if (token[elapsed] > 0 && token[block] !== tokens[i + 1]?.[block]) ends.push(i);
  }
  if (!ends.length) return [];
  const stride = Math.ceil(ends.length / pointsOfCurve);
  const shown = ends.filter((_, n) => (ends.length - 1 - n) % stride === 0);
  const speeds = shown.map((i) => (1000 * (i + 1)) / tokens[i][elapsed]);
  const share = speedOf(message) / speeds.at(-1);
  return speeds.map((speed) => share * speed);
}
