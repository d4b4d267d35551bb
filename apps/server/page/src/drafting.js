// Where tokens came from, and what the statistics say. A token is kept as a list: its text, its source, its probability
// under the draft and under the target, its block, and the milliseconds of decoding up to it.
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

/** Turns the API's token_details into tokens behind those of the same answer. Bytes of a character wait for its last ones. */
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

/** What the tip of a token says, in lines. */
export function describe(token) {
  return [
    sources[token[source]]?.says ?? token[source],
    `draft ${percent(token[draft])} · target ${percent(token[target])}`,
  ];
}

/** Of all blocks, the share in which a draft token was accepted at each place. */
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

/** Adds what one request's last event tells to the totals of the answer, which may have been continued. */
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

/** Tokens per second of an answer: what the server tells, and until it does, what the tokens so far came to. */
export function speedOf({ tokens = [], totals }) {
  if (totals?.ms > 0) return (1000 * totals.tokens) / totals.ms;
  const last = tokens.at(-1);
  return last?.[elapsed] > 0 ? (1000 * tokens.length) / last[elapsed] : null;
}

const pointsOfCurve = 60;

/**
 * The same as it ran, block by block, thinned to what a small picture shows. The time between blocks is known for the whole
 * answer only, and is spread over all of it: the end is `speedOf`.
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
