// Decodes the timelines of workers under several policies, from the data of timeline_data.cpp.

const timelines = (() => {
  const about = namesIn("timeline-names"), from = reader("timeline-numbers");
  const ofKind = about.kinds.map(() => 0);  // total time of each kind, in parts of steps
  // For each row, runs of equal steps: from, to, and the percentage of a step for each kind.
  const runs = about.runs.map((run) => ({...run, rows: run.workers.map((name) => {
    const pieces = [];
    for (let at = 0; at < about.steps;) {
      const length = from.next(), shares = Array.from({length: from.next()}, () => [from.next(), from.next()]);
      for (const [kind, share] of shares) ofKind[kind] += share * length;
      if (shares.length) pieces.push([at, at + length, shares]);
      at += length;
    }
    return {name, pieces};
  })}));
  const time = (seconds) =>
    !seconds ? "0" : about.seconds >= 1 ? threeDigits(seconds) + " s" : threeDigits(1e3 * seconds) + " ms";
  if (about.left_out) document.getElementById("timeline-notes").textContent = "Of as many policies as there is room for.";
  return {about, runs, ofKind, time};
})();
