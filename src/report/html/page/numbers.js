// Reads the data of a page: names as JSON, and numbers as encoded by numbers.cpp, varints in base64.

const began = performance.now();
const namesIn = (id) => JSON.parse(document.getElementById(id).textContent);

// A reader of the numbers of one element, in sequence.
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
