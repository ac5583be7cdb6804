// The tooltip of a chart.

const bold = (text) => { const b = document.createElement("b"); b.textContent = text; return b; };
const small = (text) => { const s = document.createElement("small"); s.textContent = text; return s; };

// Places it next to a point of `frame`, and within it.
const showTip = (tip, frame, words, x, y) => {
  tip.replaceChildren(...words);
  tip.hidden = false;
  const left = x + 14 + tip.offsetWidth > frame.clientWidth ? x - 14 - tip.offsetWidth : x + 14;
  tip.style.left = Math.max(0, left) + "px";
  tip.style.top = Math.min(y + 14, Math.max(0, frame.clientHeight - tip.offsetHeight)) + "px";
};
