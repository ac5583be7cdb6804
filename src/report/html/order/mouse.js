// The tooltip of the order chart: the task under the mouse.

(() => {
  const tip = document.getElementById("order-tip"), section = document.getElementById("order");
  order.holder.addEventListener("pointermove", (event) => {
    tip.hidden = true;
    const picture = order.pictures().find(({canvas}) => canvas === event.target);
    if (!picture) return;
    const place = event.target.getBoundingClientRect(), around = section.getBoundingClientRect();
    const found = order.taskAt(picture, event.clientX - place.left, event.clientY - place.top);
    if (found) showTip(tip, section, order.textOf(...found), event.clientX - around.left, event.clientY - around.top);
  });
  order.holder.addEventListener("pointerleave", () => { tip.hidden = true; });
})();
