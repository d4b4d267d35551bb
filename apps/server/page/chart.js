// The two charts, as SVG.
const width = 280;

function svg(height, inside) {
  return `<svg viewBox="0 0 ${width} ${height}" aria-hidden="true">${inside}</svg>`;
}

/** shares: of the blocks, how many accepted a draft token at each place. */
export function acceptanceChart(element, shares) {
  const height = 120, base = height - 18, step = width / Math.max(shares.length, 4);
  const bars = shares.map((share, i) => {
    const top = base - share * (base - 14);
    const middle = i * step + step / 2;
    return `<rect class="bar" x="${i * step + 4}" width="${step - 8}" y="${top}" height="${base - top}"></rect>
      <text x="${middle}" y="${top - 3}" text-anchor="middle">${Math.round(100 * share)} %</text>
      <text x="${middle}" y="${height - 4}" text-anchor="middle">${i + 1}</text>`;
  });
  element.innerHTML = svg(height, `<line class="axis" x1="0" x2="${width}" y1="${base}" y2="${base}"></line>${bars.join("")}`);
  const told = shares.map((share, i) => `place ${i + 1}: ${Math.round(100 * share)} percent`);
  element.setAttribute("aria-label", told.length ? told.join(", ") : "no blocks yet");
}

/** speeds: tokens per second as they ran; plain: of plain decoding, or null. */
export function speedChart(element, speeds, plain) {
  const height = 120, base = height - 4;
  const max = Math.max(...speeds, plain ?? 0, 1) * 1.15;
  const y = (speed) => base - (speed / max) * (base - 14);
  const x = (i) => (speeds.length < 2 ? width : (i / (speeds.length - 1)) * width);
  let inside = `<line class="axis" x1="0" x2="${width}" y1="${base}" y2="${base}"></line>`;
  if (speeds.length) {
    const last = speeds[speeds.length - 1];
    inside += `<path d="${speeds.map((speed, i) => `${i ? "L" : "M"}${x(i)} ${y(speed)}`).join("")}"></path>
      <text x="${width}" y="${y(last) - 5}" text-anchor="end">${last.toFixed(0)} per second</text>`;
  }
  if (plain !== null) {
    inside += `<path class="plain" d="M0 ${y(plain)}H${width}"></path>
      <text x="0" y="${y(plain) - 5}">plain ${plain.toFixed(0)}</text>`;
  }
  element.innerHTML = svg(height, inside);
  const now = speeds.length ? `${speeds[speeds.length - 1].toFixed(0)} tokens per second` : "nothing measured yet";
  element.setAttribute("aria-label", plain === null ? now : `${now}, plain decoding ${plain.toFixed(0)}`);
}
