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
// Parts that are fetched again until they say that they are done.
const live = document.querySelector("[data-live]");
async function refresh() {
  if (!live || document.hidden) return;
  const answer = await fetch(live.dataset.live);
  if (!answer.ok) return;
  live.innerHTML = await answer.text();
  if (live.querySelector("[data-done]")) clearInterval(timer);
}
const timer = live ? setInterval(() => refresh().catch(() => {}), 1000) : 0;
