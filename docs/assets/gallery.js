/* Filters the gallery as one types: a tile stays if it has all words. Families without tiles go as well. */
(() => {
  const input = document.getElementById("gallery-filter");
  if (!input) return;
  const groups = [...document.querySelectorAll(".tiles.gallery")];
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const group of groups) {
      let shown = 0;
      for (const tile of group.children) {
        tile.hidden = !words.every((word) => tile.dataset.words.includes(word));
        shown += !tile.hidden;
      }
      group.hidden = group.previousElementSibling.hidden = shown === 0;
      left += shown;
    }
    document.getElementById("gallery-none").hidden = left > 0;
    const query = input.value ? "?q=" + encodeURIComponent(input.value) : location.pathname;
    history.replaceState(null, "", query + location.hash);
  };
  input.value = new URLSearchParams(location.search).get("q") ?? "";
  input.addEventListener("input", apply);
  if (input.value) apply();
})();
