// Two SVG charts. Their contents are also described in words.
const width = 280;
const height = 120;

function Chart({ label, children }) {
  return (
    <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      {children}
    </svg>
  );
}

const percent = (share) => Math.round(100 * share);

/** shares: for each position, the share of blocks in which a draft token was accepted there. */
export function AcceptanceChart({ shares }) {
  const base = height - 18;
  const step = width / Math.max(shares.length, 4);
  const label = shares.length
    ? shares.map((share, i) => `place ${i + 1}: ${percent(share)} percent`).join(", ")
    : "nothing drafted";
  return (
    <Chart label={label}>
      <line class="axis" x1="0" x2={width} y1={base} y2={base} />
      {shares.map((share, i) => {
        const top = base - share * (base - 14);
        const middle = i * step + step / 2;
        return (
          <g key={i}>
            <rect
              class="bar"
              x={i * step + step * 0.14}
              width={step * 0.72}
              y={top}
              height={base - top}
              rx="2"
            />
            {shares.length <= 8 && (
              <text x={middle} y={top - 4} text-anchor="middle">
                {percent(share)} %
              </text>
            )}
            <text x={middle} y={height - 4} text-anchor="middle">
              {i + 1}
            </text>
          </g>
        );
      })}
    </Chart>
  );
}

/** speeds: cumulative tokens per second by block; plain: speed of plain decoding, or undefined. */
export function SpeedChart({ speeds, plain }) {
  const base = height - 4;
  const max = Math.max(...speeds, plain ?? 0, 1) * 1.2;
  const last = speeds.at(-1);
  const y = (speed) => base - (speed / max) * (base - 14);
  const x = (i) => (speeds.length < 2 ? width : (i / (speeds.length - 1)) * width);
  const now = speeds.length ? `${last.toFixed(1)} tokens per second` : "nothing measured yet";
  return (
    <Chart label={plain === undefined ? now : `${now}, plain decoding ${plain.toFixed(1)}`}>
      <line class="axis" x1="0" x2={width} y1={base} y2={base} />
      {speeds.length > 0 && (
        <path
          class="line"
          d={speeds.map((speed, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(speed).toFixed(1)}`).join("")}
        />
      )}
      {speeds.length > 0 && (
        <text x={width} y={y(last) - 6} text-anchor="end">
          {last.toFixed(1)} per second
        </text>
      )}
      {plain !== undefined && <path class="line plain" d={`M0 ${y(plain)}H${width}`} />}
      {plain !== undefined && (
        <text x="0" y={y(plain) - 6}>
          plain {plain.toFixed(1)}
        </text>
      )}
    </Chart>
  );
}
