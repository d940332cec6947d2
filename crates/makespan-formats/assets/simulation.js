// Tells what holds under the pointer, for every policy at once.

const data = JSON.parse(document.getElementById("data").textContent);
const panels = document.getElementById("panels");
const pointer = document.getElementById("pointer");
const reading = document.getElementById("reading");

/** Position of the last column that begins at or before an instant. */
function columnAt(from, time) {
  let low = 0;
  let high = from.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (from[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return Math.max(low - 1, 0);
}

panels.addEventListener("pointermove", (event) => {
  const box = panels.getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * data.width;
  const share = (x - data.left) / (data.width - data.left - data.right);
  const outside = share < 0 || share > 1;
  pointer.setAttribute("visibility", outside ? "hidden" : "visible");
  if (outside) return;
  pointer.setAttribute("transform", `translate(${x} 0)`);
  const time = share * data.span;
  const parts = data.policies.map(({ name, from, held, waiting }) => {
    const at = columnAt(from, time);
    return `\u2068${name}\u2069 ${held[at] ?? 0} busy, ${waiting[at] ?? 0} waiting`;
  });
  reading.textContent = `${duration(time)}: ${parts.join("; ")}`;
});
panels.addEventListener("pointerleave", () => {
  pointer.setAttribute("visibility", "hidden");
  reading.textContent = "";
});
