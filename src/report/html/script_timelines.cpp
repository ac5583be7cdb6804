// The page's script: what workers did under several policies, below each other on one axis of time, read from
// what timeline_data.cpp wrote.
#include "report/html/parts.hpp"

namespace fairlead::report::html {

const std::string_view script_timelines = R"js(
const timelines = (() => {
  const about = namesIn("timeline-names"), from = reader("timeline-numbers");
  const all = about.kinds.map(() => 0);
  // Of each row, pieces of equal steps: from, to, and how many per cent of a step each kind takes.
  const runs = about.runs.map((run) => ({...run, rows: run.workers.map((name) => {
    const pieces = [];
    for (let at = 0; at < about.steps;) {
      const length = from.next(), shares = Array.from({length: from.next()}, () => [from.next(), from.next()]);
      for (const [kind, share] of shares) all[kind] += share * length;
      if (shares.length) pieces.push([at, at + length, shares]);
      at += length;
    }
    return {name, pieces};
  })}));
  const byTime = [...all.keys()].sort((a, b) => all[b] - all[a]), rank = all.map((_, kind) => byTime.indexOf(kind));
  const canvas = document.getElementById("timeline-plot"), tip = document.getElementById("timeline-tip");
  const legend = document.getElementById("timeline-legend"), section = document.getElementById("timelines");
  const many = Math.max(...runs.map((run) => run.rows.length));
  const tall = many <= 8 ? 24 : many <= 24 ? 13 : 6, gap = many <= 24 ? 3 : 1;
  const time = (seconds, step = about.seconds) => !seconds ? "0" : step >= 1 ? seconds.toPrecision(3) + " s" : (1e3 * seconds).toPrecision(3) + " ms";
  let places = [], gutter = 0, width = 0, colours = [];

  function draw() {
    const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue("--" + name).trim();
    const first = kindColours(Array.from({length: 10}, (_, i) => of("c" + i)), about.kinds.length);
    colours = rank.map((place) => first[place]);
    legend.replaceChildren(...byTime.filter((kind) => all[kind] > 0).map((kind) => {
      const chip = document.createElement("span"), mark = document.createElement("i");
      mark.style.background = colours[kind];
      chip.append(mark, about.kinds[kind]);
      return chip;
    }));
    const dots = window.devicePixelRatio || 1, wide = canvas.clientWidth, paint = canvas.getContext("2d");
    paint.font = "12px system-ui, sans-serif";
    gutter = tall < 12 ? 0 : Math.ceil(Math.min(0.3 * wide, 12 + Math.max(...runs.flatMap((run) => run.workers.map((name) => paint.measureText(name).width)))));
    width = wide - gutter - 1;
    places = [];
    let y = 20;
    const heads = [];
    for (const run of runs) {
      heads.push([run, y + 11]);
      y += 22;
      for (const row of run.rows) { places.push({run, row, y}); y += tall + gap; }
      y += 8;
    }
    canvas.style.height = y + "px";
    canvas.width = Math.round(wide * dots);
    canvas.height = Math.round(y * dots);
    paint.scale(dots, dots);
    paint.font = "12px system-ui, sans-serif";
    paint.textBaseline = "middle";
    const text = (what, x, y, colour, align = "left") => { paint.fillStyle = of(colour); paint.textAlign = align; paint.fillText(what, x, y); };
    const at = (seconds) => gutter + seconds / about.seconds * width, stepWide = width / about.steps;
    const power = 10 ** Math.floor(Math.log10(about.seconds / Math.max(2, width / 110)));
    const step = [1, 2, 5, 10].find((m) => m * power >= about.seconds / Math.max(2, width / 110)) * power;
    for (let tick = 0; tick <= about.seconds; tick += step) {
      paint.fillStyle = of("grid");
      paint.fillRect(at(tick), 18, 1, y);
      text(time(tick), Math.min(at(tick), wide - 34), 9, "soft", at(tick) < gutter + 20 ? "left" : "center");
    }
    for (const [run, middle] of heads) {
      paint.font = "600 13px system-ui, sans-serif";
      text(run.name, 0, middle, "ink");
      const left = paint.measureText(run.name).width + 10;
      paint.font = "12px system-ui, sans-serif";
      text(time(run.seconds) + (run.limit ? ", limited by " + run.limit : ""), left, middle, "soft");
    }
    for (const {run, row, y} of places) {
      if (gutter) {
        let name = row.name;
        while (name.length > 1 && paint.measureText(name).width > gutter - 6) name = name.slice(0, -1);
        text(name, 0, y + tall / 2, "soft");
      }
      paint.fillStyle = of("empty");
      paint.fillRect(gutter, y, at(run.seconds) - gutter, tall);
      for (const [begin, end, shares] of row.pieces) {
        let bottom = y + tall;
        for (const [kind, share] of shares) {
          const high = Math.min(bottom - y, share / 100 * tall);
          paint.fillStyle = colours[kind];
          paint.fillRect(gutter + begin * stepWide, bottom - high, (end - begin) * stepWide + 0.05, high);
          bottom -= high;
        }
      }
    }
    if (about.at_best > 0 && about.at_best <= about.seconds) {
      paint.fillStyle = of("ink");
      for (let dot = 18; dot < y; dot += 6) paint.fillRect(at(about.at_best), dot, 1.5, 3);
    }
  }

  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const place = places.find((one) => y >= one.y && y < one.y + tall), step = Math.floor((x - gutter) / width * about.steps);
    tip.hidden = !place || step < 0 || step >= about.steps;
    if (tip.hidden) return;
    const piece = place.row.pieces.find(([begin, end]) => begin <= step && step < end);
    const what = piece ? piece[2].map(([kind, share]) => about.kinds[kind] + (share < 100 ? " " + share + " %" : "")).join(", ") : "no task";
    tip.replaceChildren(bold(what), "\n", small(place.run.name + ", " + place.row.name + ", at " + time(step / about.steps * about.seconds)));
    const frame = section.getBoundingClientRect();
    tip.style.left = Math.max(0, Math.min(event.clientX - frame.left + 14, section.clientWidth - tip.offsetWidth)) + "px";
    tip.style.top = event.clientY - frame.top + 16 + "px";
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  if (about.left_out) document.getElementById("timeline-notes").textContent = "Of as many policies as there is room for.";
  onColours(draw);
  addEventListener("resize", draw);
  return {about, runs, places: () => places, colourOf: (kind) => colours[kind]};
})();
)js";

}  // namespace fairlead::report::html
