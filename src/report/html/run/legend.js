// The legend of the run chart: clicking a kind of task shows it alone. Then starts the chart.

const busy = busyOf.reduce((a, b) => a + b, 0) || 1;
const shareOf = (codelet) => {
  const share = busyOf[codelet] / busy * 100;
  return (share >= 1 ? share.toFixed(0) : share >= 0.01 ? share.toPrecision(1) : share ? "< 0.01" : "0") + " %";
};
const chips = kinds.order.map((codelet) => {
  const chip = legendEntry("button", "", info.codelets[codelet], small(shareOf(codelet)));
  chip.title = "Show these tasks alone, or all again";
  chip.setAttribute("aria-pressed", "false");
  chip.addEventListener("click", () => {
    only = only === codelet ? -1 : codelet;
    chips.forEach((one) => one.setAttribute("aria-pressed", String(one === chip && only >= 0)));
    redraw();
  });
  return chip;
});
const legend = document.getElementById("legend");
legend.append(...chips);
if (workers.some(({waits}) => waits.forData.some((is) => is))) {
  const entry = legendEntry("span", "var(--wait)", "waiting for data");
  entry.firstChild.style.opacity = ".4";
  entry.firstChild.style.marginLeft = "8px";
  legend.append(entry);
}
document.getElementById("notes").textContent = info.notes.join(" ");

onColours(() => {
  hideTip();
  codeletColours = kinds.colours();
  kinds.order.forEach((codelet, place) => recolourEntry(chips[place], colourOf(codelet)));
  draw();
});
addEventListener("resize", () => { hideTip(); redraw(); });
