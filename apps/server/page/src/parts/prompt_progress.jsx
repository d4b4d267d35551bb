/** Returns the prefilled share of the prompt. Cached tokens do not count, since they take no time. */
function shareOf({ total, cache = 0, processed }) {
  const share = (processed - cache) / (total - cache);
  return Number.isFinite(share) ? Math.min(Math.max(share, 0), 1) : 1;
}

/** Returns the remaining seconds; null if nothing has been prefilled yet. */
function secondsLeft({ time_ms }, share) {
  const left = (time_ms / 1000) * (1 / share - 1);
  return Number.isFinite(left) ? Math.ceil(left) : null;
}

/** Returns true during prefill. progress: as in the server's events, or undefined. */
export const isReading = (progress) => Boolean(progress) && shareOf(progress) < 1;

/** Progress of the prefill of a long prompt. */
export function PromptProgress({ progress }) {
  const share = shareOf(progress);
  const percent = Math.floor(100 * share);
  const left = secondsLeft(progress, share);
  return (
    <div class="progress soft">
      <span class="bar" role="progressbar" aria-label="Reading the prompt" aria-valuenow={percent}>
        <span style={{ width: `${percent}%` }} />
      </span>
      Reading the prompt: {percent} %{left ? `, ${left} s left` : ""}
    </div>
  );
}
