"use strict";
// Keys: numbers open pages, arrows go to the previous and the next one, "/" finds.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, audio")) return;
  const wanted = { ArrowLeft: "a[rel=prev]", ArrowRight: "a[rel=next]" }[event.key];
  const target = document.querySelector(wanted || `a[data-key="${CSS.escape(event.key)}"]`);
  if (event.key === "/") {
    const field = document.querySelector("input[type=search]");
    if (field) { field.focus(); event.preventDefault(); }
  } else if (target) {
    target.click();
    event.preventDefault();
  }
});
// Fetches the live part again until it is done; keeps its open details and the focus.
const live = document.querySelector("[data-live]");
let shown = "";
async function refresh() {
  if (!live || document.hidden) return;
  const answer = await fetch(live.dataset.live);
  const text = answer.ok ? await answer.text() : shown;
  if (text === shown) return;
  shown = text;
  const parts = () => [...live.querySelectorAll("details, summary, a")];
  const open = parts().map((part) => part.open);
  const focus = parts().indexOf(document.activeElement);
  live.innerHTML = text;
  parts().forEach((part, i) => { if (part.open === false && open[i]) part.open = true; });
  parts()[focus]?.focus({ preventScroll: true });
  if (live.querySelector("[data-done]")) clearInterval(timer);
}
const timer = live ? setInterval(() => refresh().catch(() => {}), 1000) : 0;
