// Canvases in the resolution of the screen, and their common elements: boxes and text.

const dotsPerPixel = () => Math.max(1, window.devicePixelRatio || 1);

// Resizes and clears the canvas; sizes are in CSS pixels.
const sizeCanvas = (canvas, wide, tall) => {
  const dots = dotsPerPixel(), w = Math.round(wide * dots), h = Math.round(tall * dots);
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; canvas.style.height = tall + "px"; }
  const paint = canvas.getContext("2d");
  paint.setTransform(dots, 0, 0, dots, 0, 0);
  paint.clearRect(0, 0, wide, tall);
};

// The chart being saved: drawing operations on its canvas also produce SVG.
let saved = null;
const entities = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\u0022": "&quot;"};
const inMarkup = (text) => [...String(text)].map((sign) => entities[sign] || sign).join("");
const few = (number) => +number.toFixed(2);
// The XML namespace of SVG; nothing is loaded from it.
const svgName = ["http", "//www.w3.org/2000/svg"].join(":");
const svgOf = (canvas, draw) => {
  saved = {canvas, parts: []};
  draw();
  const {parts} = saved, wide = canvas.clientWidth, tall = parseFloat(canvas.style.height);
  saved = null;
  return `<svg xmlns="${svgName}" width="${few(wide)}" height="${few(tall)}" viewBox="0 0 ${few(wide)} ${few(tall)}" ` +
    `font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="${inMarkup(colours.paper)}"/>\n${parts.join("\n")}\n<${"/svg>"}\n`;
};
// Offers the picture as a download.
const savePicture = (name, canvas, draw) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([svgOf(canvas, draw)], {type: "image/svg+xml"}));
  link.download = name + ".svg";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

// Drawing functions for a canvas.
const penOn = (canvas) => {
  const paint = canvas.getContext("2d");
  const write = (part) => { if (saved && saved.canvas === canvas) saved.parts.push(part); };
  const letters = (size, weight = "") => { paint.font = `${weight} ${size}px system-ui, sans-serif`; };
  const box = (colour, left, top, right, bottom) => {
    paint.fillStyle = colour;
    paint.fillRect(left, top, right - left, bottom - top);
    write(`<rect x="${few(left)}" y="${few(top)}" width="${few(Math.max(0, right - left))}" height="${few(Math.max(0, bottom - top))}" ` +
      `fill="${inMarkup(colour)}"${paint.globalAlpha < 1 ? ` fill-opacity="${few(paint.globalAlpha)}"` : ""}/>`);
  };
  const frame = (colour, left, top, right, bottom, thick = 1) => {
    box(colour, left, top, right, top + thick);
    box(colour, left, bottom - thick, right, bottom);
    box(colour, left, top + thick, left + thick, bottom - thick);
    box(colour, right - thick, top + thick, right, bottom - thick);
  };
  const label = (text, left, middle, colour = colours.soft, align = "left", size = 12, weight = "") => {
    letters(size, weight);
    paint.fillStyle = colour;
    paint.textAlign = align;
    paint.textBaseline = "middle";
    paint.fillText(text, left, middle);
    write(`<text x="${few(left)}" y="${few(middle)}" font-size="${size}"${weight ? ` font-weight="${weight}"` : ""} ` +
      `text-anchor="${{right: "end", center: "middle"}[align] || "start"}" dominant-baseline="central" fill="${inMarkup(colour)}">` +
      inMarkup(text) + "<" + "/text>");
  };
  const widthOf = (text, size = 12, weight = "") => { letters(size, weight); return paint.measureText(text).width; };
  // Truncates the text to the available width.
  const fitted = (text, room) => {
    if (widthOf(text) <= room) return text;
    while (text && paint.measureText(text + "\u2026").width > room) text = text.slice(0, -1);
    return text ? text + "\u2026" : "";
  };
  return {paint, box, frame, label, widthOf, fitted};
};
