// The last of the scripts: all is read, and is drawn for the first time.

recolour();
document.documentElement.dataset.drawn = String(Math.round(performance.now() - began));  // milliseconds
