// The page's script: what is chosen of the order of tasks, and what the mouse tells of it.
#include "report/html/parts.hpp"

namespace fairlead::report::html {

const std::string_view script_order_use = R"js(
(() => {
  const {about, runs, iterations, state} = order;
  const part = (name) => document.getElementById("order-" + name);
  const slider = part("first");
  const say = (number) => number.toLocaleString("en");

  function choose(name, choices, act, chosen = 0) {
    const select = part(name);
    select.append(...choices.map(([text], i) => new Option(text, i, false, i === chosen)));
    select.addEventListener("change", () => { act(choices[select.value][1]); });
    act(choices[chosen][1]);
  }
  let ready = false;
  const again = (act) => (what) => { act(what); if (ready) { legend(); order.arrange(); } };

  // ---- which run, which device, how many iterations, how many tasks to a colour
  const single = runs.map(({name}, run) => [name, [run]]);
  choose("run", runs.length > 1 ? [...single, ["each", runs.map((_, run) => run)]] : single, again((what) => { state.runs = what; }),
    runs.length > 1 ? runs.length : 0);
  const ones = about.devices.map((name, device) => [name, [device]]);
  choose("device", [["all as one", [-1]], ["each by itself", about.devices.map((_, device) => device)], ...ones],
    again((what) => { state.devices = what; }));
  part("runs-label").hidden = runs.length < 2;
  part("devices-label").hidden = about.devices.length < 2;
  const seventh = Math.max(1, Math.ceil(about.tasks / 7));
  choose("span", [["100", 100], ["1,000", 1000], ["10,000", 10000], [`${say(seventh)} (a seventh)`, seventh]],
    again((what) => { state.span = what; }), 1);
  const counts = [1, 2, 4, 8, 16].filter((many) => many === 1 || many < 2 * iterations.length);
  choose("shown", counts.map((many) => [String(many), many]), again((what) => { state.shown = what; show(state.first); }),
    Math.min(2, counts.length - 1));
  function show(first) {
    const last = Math.max(0, iterations.length - state.shown);
    state.first = Math.min(last, Math.max(0, first));
    slider.max = last + 1;
    slider.value = state.first + 1;
    if (ready) order.draw();
  }
  slider.addEventListener("input", () => show(slider.value - 1));
  press("order-back", () => show(state.first - state.shown));
  press("order-on", () => show(state.first + state.shown));

  function legend() {
    const chips = [];
    order.names.forEach((name, i) => {
      if (i * state.span >= about.tasks) return;
      const chip = document.createElement("span"), mark = document.createElement("i");
      const shades = order.shades[i];
      mark.style.cssText = `width:34px;background:linear-gradient(90deg,${shades[0]},${shades[shades.length - 1]})`;
      chip.title = name;
      chip.append(mark, `${say(i * state.span + 1)} \u2013 ${say(Math.min(about.tasks, (i + 1) * state.span))}`);
      chips.push(chip);
    });
    if (about.tasks > 7 * state.span) {
      const chip = document.createElement("span");
      chip.textContent = "then again";
      chips.push(chip);
    }
    part("legend").replaceChildren(...chips);
  }
  const undrawn = about.tasks - [...order.tasksOf.values()].reduce((sum, {length}) => sum + length, 0);
  const where = about.devices.length === 1 ? "memory" : "the memory of one device";
  part("notes").textContent = [
    order.marked ? `The square in the corner has as many tiles as fit in ${where}: ${say(about.memory_tiles)}.`
      : `More tiles fit in ${where} than a square beside the matrix would show: ${say(about.memory_tiles)}.`,
    ...(undrawn ? [`${say(undrawn)} tasks write no tile of ${about.matrix} and are not drawn.`] : [])].join(" ");

  // ---- what is under the mouse
  const tip = part("tip"), section = document.getElementById("order");
  order.holder.addEventListener("pointermove", (event) => {
    tip.hidden = true;
    const picture = order.pictures().find(({canvas}) => canvas === event.target);
    if (!picture) return;
    const place = event.target.getBoundingClientRect(), around = section.getBoundingClientRect();
    const found = order.taskAt(picture, event.clientX - place.left, event.clientY - place.top);
    if (!found) return;
    tip.replaceChildren(...order.textOf(...found));
    tip.hidden = false;
    const px = event.clientX - around.left;
    tip.style.left = Math.max(0, px + 14 + tip.offsetWidth > section.clientWidth ? px - 14 - tip.offsetWidth : px + 14) + "px";
    tip.style.top = event.clientY - around.top + 14 + "px";
  });
  order.holder.addEventListener("pointerleave", () => { tip.hidden = true; });

  ready = true;
  legend();
  order.arrange();
  onColours(order.draw);
  addEventListener("resize", order.draw);
})();
)js";

}  // namespace fairlead::report::html
