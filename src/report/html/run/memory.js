// Rows of memory nodes: the usage of each by kind, relative to its capacity.

// The mean of each kind of usage in each pixel.
function means(node) {
  const count = Math.max(1, Math.floor(width)), per = (view.to - view.from) / count;
  const result = uses.map(() => new Float64Array(count));
  let now = node.recordAt(view.from);  // the record that is valid at the pixel's left edge
  for (let pixel = 0; pixel < count; ++pixel) {
    const end = view.from + (pixel + 1) * per;
    let time = view.from + pixel * per;
    while (time < end) {
      const next = now + 1 < node.count ? Math.min(end, node.at[now + 1]) : end;
      if (now >= 0) for (let use = 0; use < uses.length; ++use) result[use][pixel] += node.bytes[use][now] * (next - time) / per;
      time = next;
      if (now + 1 < node.count && node.at[now + 1] <= time) ++now;
      else if (next === end) break;
    }
  }
  return result;
}

function drawMemory(row) {
  const bottom = row.y + row.height;
  box(colours.empty, gutter, row.y, gutter + width, bottom);
  drawColumns(means(row.node), colours.uses, bottom, row.height / Math.max(1, row.node.capacity));
  box(colours.soft, gutter, row.y, gutter + width, row.y + 1);
  rowLabel(row.node.name, bottom - 8);
  label(stored(row.node.capacity), gutter - 6, row.y + 6, colours.soft, "right", 11);
}
