// The page's script, first part: what all pages with pictures share.
#include "report/html/parts.hpp"

namespace fairlead::report::html {

const std::string_view script_page = R"js(
const began = performance.now();
const namesIn = (id) => JSON.parse(document.getElementById(id).textContent);
// Varints in base64, one after the other.
const reader = (id) => {
  const text = atob(document.getElementById(id).textContent);
  let at = 0;
  const next = () => {
    let value = 0, scale = 1;
    for (;;) {
      const byte = text.charCodeAt(at++);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  };
  const signed = () => { const n = next(); return n % 2 ? -(n + 1) / 2 : n / 2; };
  return {next, signed};
};
const bold = (text) => { const b = document.createElement("b"); b.textContent = text; return b; };
const small = (text) => { const s = document.createElement("small"); s.textContent = text; return s; };
// As many colours as there are kinds, no two alike: the style's, then others as far away on the wheel as may be.
const kindColours = (first, count) => {
  const light = themeNow() === "dark" ? [0.68, 0.55, 0.78] : [0.42, 0.6, 0.33];
  const hex = (part) => Math.round(255 * part).toString(16).padStart(2, "0");
  const all = first.slice(0, count);
  for (let k = 0; all.length < count; ++k) {
    const hue = (25 + 137.508 * k) % 360, l = light[k % 3], strength = 0.6 * Math.min(l, 1 - l);
    const part = (n) => { const at = (n + hue / 30) % 12; return l - strength * Math.max(-1, Math.min(at - 3, 9 - at, 1)); };
    const colour = "#" + hex(part(0)) + hex(part(8)) + hex(part(4));
    if (!all.includes(colour)) all.push(colour);
  }
  return all;
};
const press = (id, act) => document.getElementById(id).addEventListener("click", act);

// ---- light, dark, paper: pictures are drawn when the colours are known, and again when they change

const drawings = [];
const onColours = (draw) => drawings.push(draw);
const recolour = () => { for (const draw of drawings) draw(); };
const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = (name) => {
  if (name) document.documentElement.dataset.theme = name; else delete document.documentElement.dataset.theme;
  recolour();
};
const themeNow = () => document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
document.getElementById("theme").hidden = false;
press("theme", () => theme(themeNow() === "dark" ? "light" : "dark"));
dark.addEventListener("change", recolour);
let before;
addEventListener("beforeprint", () => { before = document.documentElement.dataset.theme; theme("light"); });
addEventListener("afterprint", () => theme(before));
)js";

// The last part.
const std::string_view script_begin = R"js(
recolour();
document.documentElement.dataset.drawn = String(Math.round(performance.now() - began));  // milliseconds
)js";

}  // namespace fairlead::report::html
