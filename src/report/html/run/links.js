// Rows of links: bytes per second by cause, and the individual copies below.

// Bytes per second in each pixel, by cause; the bytes of a copy are spread evenly over its duration.
function rates(copies) {
  const count = Math.max(1, Math.floor(width)), per = (view.to - view.from) / count;
  const result = info.causes.map(() => new Float64Array(count));
  for (let i = copies.from(view.from); i < copies.count && copies.start[i] < view.to; ++i) {
    const start = copies.start[i], length = Math.max(copies.end[i] - start, 1e-9), rate = copies.bytes[i] / length;
    const first = Math.max(0, (start - view.from) / per), last = Math.min(count, (copies.end[i] - view.from) / per);
    const of = result[copies.cause[i]];
    for (let pixel = Math.floor(first); pixel < last && pixel < count; ++pixel)
      of[pixel] += rate * (Math.min(last, pixel + 1) - Math.max(first, pixel));
    if (first === last && first < count) of[Math.floor(first)] += copies.bytes[i] / per;
  }
  const second = 1e9 / info.tick_ns;
  for (const of of result) for (let i = 0; i < count; ++i) of[i] *= second;
  return result;
}

// Draws stacked columns, each one pixel wide; `scale`: pixels per unit.
function drawColumns(parts, colourOfPart, bottom, scale) {
  for (let i = 0; i < parts[0].length; ++i) {
    let y = bottom;
    for (let k = 0; k < parts.length; ++k) {
      const tall = parts[k][i] * scale;
      if (tall > 0) box(colourOfPart[k], gutter + i, y - tall, gutter + i + 1, y);
      y -= tall;
    }
  }
}

function drawTraffic(row) {
  const by = rates(row.link.copies), bottom = row.y + row.height;
  let most = 0;
  for (let i = 0; i < by[0].length; ++i) most = Math.max(most, by.reduce((sum, of) => sum + of[i], 0));
  rowLabel(row.link.name, row.y + row.height - 7);
  box(colours.line, gutter, bottom, gutter + width, bottom + 1);
  if (!most) return;
  // The bandwidth limit set for the run, both directions together.
  const cap = info.disk_cap && /\bdisk\b/.test(row.link.name) ? info.disk_cap : 0, full = Math.max(most, cap);
  drawColumns(by, colours.causes, bottom, (row.height - 2) / full);
  if (cap) {
    const y = bottom - cap * (row.height - 2) / full;
    for (let left = gutter; left < gutter + width; left += 8) box(colours.ink, left, y, Math.min(left + 4, gutter + width), y + 1);
    label("cap " + moved(cap) + "/s", gutter + width - 2, y + 8, colours.ink, "right", 11);
  }
  label(moved(most) + "/s", gutter - 6, row.y + 6, colours.soft, "right", 11);
}

function drawCopies(row) {
  const {copies} = row.link, lane = row.height / copies.lanes;
  for (let i = copies.from(view.from); i < copies.count && copies.start[i] < view.to; ++i) {
    const left = Math.max(gutter, x(copies.start[i])), right = Math.min(gutter + width, x(copies.end[i]));
    const y = row.y + 2 + copies.lane[i] * lane;
    box(copies.failed[i] ? colours.wait : colours.causes[copies.cause[i]], left, y,
      Math.max(left + 0.5, right - (right - left > 3 ? 0.6 : 0)), y + Math.max(1, lane - 1));
  }
}
