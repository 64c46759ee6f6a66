// On paper everything is light, open where it should be, and as wide as the page.
"use strict";

(() => {
  const S = window.Sureleaf;
  const root = document.documentElement;
  let theme = null, opened = [], printing = false;

  window.addEventListener("beforeprint", () => {
    if (printing) return;
    printing = true;
    theme = root.dataset.theme;
    root.dataset.theme = "light";
    opened = [...document.querySelectorAll('details[data-print="open"]:not([open])')];
    for (const details of opened) details.open = true;
    S.redraw();
  });
  window.addEventListener("afterprint", () => {
    printing = false;
    if (theme === undefined) delete root.dataset.theme;
    else root.dataset.theme = theme;
    for (const details of opened) details.open = false;
    S.redraw();
  });
})();
