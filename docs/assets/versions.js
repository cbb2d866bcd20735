// The selector of versions in the header, in the theme's own form. The list is a script, for a page from disk may read no JSON.
(() => {
  const home = __md_scope; // where this version begins, set by the theme
  const list = document.createElement("script");
  list.src = new URL("../versions.js", home).href;
  list.addEventListener("load", () => {
    const current = home.pathname.split("/").filter(Boolean).pop();
    const selector = document.createElement("div");
    selector.className = "md-version";
    const button = document.createElement("button");
    button.className = "md-version__current";
    button.setAttribute("aria-label", "Version");
    button.textContent = current;
    const items = document.createElement("ul");
    items.className = "md-version__list";
    for (const version of window.siteVersions) {
      const link = document.createElement("a");
      link.className = "md-version__link";
      link.href = new URL(`../${version}/index.html`, home).href;
      link.textContent = version;
      const item = document.createElement("li");
      item.className = "md-version__item";
      item.append(link);
      items.append(item);
    }
    selector.append(button, items);
    document.querySelector(".md-header__topic").append(selector);
  });
  document.head.append(list);
})();
