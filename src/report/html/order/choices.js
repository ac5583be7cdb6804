// The controls of the order chart: run, device, iterations, and the number of tasks per colour.

(() => {
  const {about, runs, iterations, state} = order;
  const part = (name) => document.getElementById("order-" + name);
  const slider = part("first");
  const say = (number) => number.toLocaleString("en");

  let ready = false;
  function choose(name, choices, act, chosen = 0) {
    const select = part(name);
    select.append(...choices.map(([text], i) => new Option(text, i, false, i === chosen)));
    const choice = (i) => {
      act(choices[i][1]);
      if (ready) { legend(); order.arrange(); order.draw(); }
    };
    select.addEventListener("change", () => choice(select.value));
    choice(chosen);
  }

  const single = runs.map(({name}, run) => [name, [run]]);
  choose("run", runs.length > 1 ? [...single, ["each", runs.map((_, run) => run)]] : single, (what) => { state.runs = what; },
    runs.length > 1 ? runs.length : 0);
  const ones = about.devices.map((name, device) => [name, [device]]);
  choose("device", [["all as one", [-1]], ["each by itself", about.devices.map((_, device) => device)], ...ones],
    (what) => { state.devices = what; });
  part("runs-label").hidden = runs.length < 2;
  part("devices-label").hidden = about.devices.length < 2;
  const seventh = Math.max(1, Math.ceil(about.tasks / 7));
  choose("span", [["100", 100], ["1,000", 1000], ["10,000", 10000], [`${say(seventh)} (a seventh)`, seventh]],
    (what) => { state.span = what; }, 1);
  const counts = [1, 2, 4, 8, 16].filter((many) => many === 1 || many < 2 * iterations.length);
  choose("shown", counts.map((many) => [String(many), many]), (what) => { state.shown = what; moveTo(state.first); },
    Math.min(2, counts.length - 1));

  // Shows the iterations from `first`, limited so that enough of them follow.
  function moveTo(first) {
    const last = Math.max(0, iterations.length - state.shown);
    state.first = Math.min(last, Math.max(0, first));
    slider.max = last + 1;
    slider.value = state.first + 1;
    if (ready) order.draw();
  }
  slider.addEventListener("input", () => moveTo(slider.value - 1));
  press("order-back", () => moveTo(state.first - state.shown));
  press("order-on", () => moveTo(state.first + state.shown));

  function legend() {
    const chips = [];
    order.names.forEach((name, i) => {
      if (i * state.span >= about.tasks) return;
      const shades = order.shades[i], last = Math.min(about.tasks, (i + 1) * state.span);
      const chip = legendEntry("span", `linear-gradient(90deg,${shades[0]},${shades[shades.length - 1]})`,
        `${say(i * state.span + 1)} \u2013 ${say(last)}`);
      chip.firstChild.style.width = "34px";
      chip.title = name;
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
      : `More tiles fit in ${where} than a square next to the matrix would show: ${say(about.memory_tiles)}.`,
    ...(undrawn ? [`${say(undrawn)} tasks write no tile of ${about.matrix} and are not drawn.`] : [])].join(" ");

  ready = true;
  legend();
  order.arrange();
  onColours(order.draw);
  addEventListener("resize", order.draw);
})();
