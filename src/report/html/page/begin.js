// The last script: draws everything for the first time.

recolour();
document.documentElement.dataset.drawn = String(Math.round(performance.now() - began));  // milliseconds
