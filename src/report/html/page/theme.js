// Themes: light, dark, paper. Charts are drawn when the colours are known, and again when they change.

const drawings = [];
const onColours = (draw) => drawings.push(draw);
const recolour = () => {
  readColours();
  for (const draw of drawings) draw();
};

const darkScreen = matchMedia("(prefers-color-scheme: dark)");
const darkStyle = document.getElementById("dark"), asTheScreen = darkStyle.media;
const themeNow = () => document.documentElement.dataset.theme || (darkScreen.matches ? "dark" : "light");
// "light" or "dark" overrides the screen's setting; empty: the screen's setting.
const theme = (name) => {
  if (name) document.documentElement.dataset.theme = name; else delete document.documentElement.dataset.theme;
  darkStyle.media = name ? (name === "dark" ? "all" : "not all") : asTheScreen;
  recolour();
};

const press = (id, act) => document.getElementById(id).addEventListener("click", act);
document.getElementById("theme").hidden = false;
press("theme", () => theme(themeNow() === "dark" ? "light" : "dark"));
darkScreen.addEventListener("change", recolour);
let themeOnScreen;
addEventListener("beforeprint", () => { themeOnScreen = document.documentElement.dataset.theme; theme("light"); });
addEventListener("afterprint", () => theme(themeOnScreen));
