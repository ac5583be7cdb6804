// Keys and buttons that change the view of the run chart.

const steps = {
  in: () => zoom(1.6), out: () => zoom(1 / 1.6), left: () => move(-0.2), right: () => move(0.2),
  pageLeft: () => move(-0.9), pageRight: () => move(0.9), all: () => show(whole.from, whole.to), leave: () => plot.blur(),
};
const keys = {"+": "in", "=": "in", w: "in", "-": "out", s: "out", ArrowLeft: "left", a: "left", ArrowRight: "right", d: "right",
  PageUp: "pageLeft", PageDown: "pageRight", 0: "all", Home: "all", Escape: "leave"};
plot.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  steps[keys[event.key]]();
});
press("save", () => savePicture("run", plot, draw));
for (const id of ["in", "out", "all"]) press(id, steps[id]);

for (const phase of info.phases) {
  const button = document.createElement("button");
  button.textContent = phase.name;
  button.title = "Show this part of the run alone";
  button.addEventListener("click", () => show(phase.start, phase.end));
  document.getElementById("spans").append(button);
}
