// Canvases as sharp as the screen, and what is drawn on all of them: boxes and text.

const dotsPerPixel = () => Math.max(1, window.devicePixelRatio || 1);

// So large, in pixels of the page, and empty.
const sizeCanvas = (canvas, wide, tall) => {
  const dots = dotsPerPixel(), w = Math.round(wide * dots), h = Math.round(tall * dots);
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; canvas.style.height = tall + "px"; }
  const paint = canvas.getContext("2d");
  paint.setTransform(dots, 0, 0, dots, 0, 0);
  paint.clearRect(0, 0, wide, tall);
};

// What draws on a canvas.
const penOn = (canvas) => {
  const paint = canvas.getContext("2d");
  const letters = (size, weight = "") => { paint.font = `${weight} ${size}px system-ui, sans-serif`; };
  const box = (colour, left, top, right, bottom) => {
    paint.fillStyle = colour;
    paint.fillRect(left, top, right - left, bottom - top);
  };
  const label = (text, left, middle, colour = colours.soft, align = "left", size = 12, weight = "") => {
    letters(size, weight);
    paint.fillStyle = colour;
    paint.textAlign = align;
    paint.textBaseline = "middle";
    paint.fillText(text, left, middle);
  };
  const widthOf = (text, size = 12, weight = "") => { letters(size, weight); return paint.measureText(text).width; };
  // As much of the text as there is room for.
  const fitted = (text, room) => {
    if (widthOf(text) <= room) return text;
    while (text && paint.measureText(text + "\u2026").width > room) text = text.slice(0, -1);
    return text ? text + "\u2026" : "";
  };
  return {paint, box, label, widthOf, fitted};
};
