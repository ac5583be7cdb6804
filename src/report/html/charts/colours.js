// Colours from light.css and dark.css, for the current theme.

let colours = {};
const readColours = () => {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue("--" + name).trim();
  const all = (letter, places) => places.map((place) => of(letter + place));
  colours = {ink: of("ink"), soft: of("soft"), line: of("line"), grid: of("grid"), empty: of("empty"), paper: of("paper"),
    wait: of("wait"), kinds: all("c", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), causes: all("u", [0, 1, 2, 3]), uses: all("u", [0, 1, 2, 4])};
};
readColours();

// Distinct colours, one for each kind of task: those of the style sheet, then others spread over the colour wheel.
const kindColours = (count) => {
  const lightness = themeNow() === "dark" ? [0.68, 0.55, 0.78] : [0.42, 0.6, 0.33];
  const hex = (part) => Math.round(255 * part).toString(16).padStart(2, "0");
  const all = colours.kinds.slice(0, count);
  for (let k = 0; all.length < count; ++k) {
    const hue = (25 + 137.508 * k) % 360, light = lightness[k % 3], strength = 0.6 * Math.min(light, 1 - light);
    const part = (n) => {
      const at = (n + hue / 30) % 12;
      return light - strength * Math.max(-1, Math.min(at - 3, 9 - at, 1));
    };
    const colour = "#" + hex(part(0)) + hex(part(8)) + hex(part(4));
    if (!all.includes(colour)) all.push(colour);
  }
  return all;
};

// Sorts kinds of task by their total time: those with the longest time get the first colours. `ofKind`: time by
// kind. Returns `order`, the kinds sorted by descending time, and colours(), a colour for each kind.
const rankKinds = (ofKind) => {
  const order = [...ofKind.keys()].sort((a, b) => ofKind[b] - ofKind[a]);
  return {
    order,
    colours: () => {
      const first = kindColours(order.length), all = [];
      order.forEach((kind, place) => { all[kind] = first[place]; });
      return all;
    },
  };
};

// Dark text on light colours, light text on dark ones.
const inkOn = (colour) => {
  const [r, g, b] = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.21 * r + 0.72 * g + 0.07 * b > 0.26 ? "#101214" : "#fff";
};
