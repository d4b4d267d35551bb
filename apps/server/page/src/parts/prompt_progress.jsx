/** The share of a prompt that has been read. What came from the cache took no time and does not count. */
function shareOf({ total, cache = 0, processed }) {
  const share = (processed - cache) / (total - cache);
  return Number.isFinite(share) ? Math.min(Math.max(share, 0), 1) : 1;
}

/** The seconds that the rest of it will take; null if nothing has been read yet. */
function secondsLeft({ time_ms }, share) {
  const left = (time_ms / 1000) * (1 / share - 1);
  return Number.isFinite(left) ? Math.ceil(left) : null;
}

/** Whether a prompt is being read. progress: as the server's events have it, or nothing. */
export const isReading = (progress) => Boolean(progress) && shareOf(progress) < 1;

/** How far the model has come with a long prompt. */
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
