// Light or dark, and where in the report the reader is.
"use strict";

(() => {
  const S = window.Sureleaf;
  const root = document.documentElement, button = S.byId("theme");
  const preferred = window.matchMedia("(prefers-color-scheme: dark)");

  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : preferred.matches);
  function show() {
    button.replaceChildren(isDark() ? "Light" : "Dark", S.element("span", { class: "wordy" }, " colours"));
    S.redraw();
  }
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  preferred.addEventListener("change", show);
  show();

  const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
  const visible = new Set();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) visible.add(entry.target.id);
        else visible.delete(entry.target.id);
      }
      const current = [...links.keys()].find((id) => visible.has(id));
      if (current) for (const [id, link] of links) mark(link, id === current);
    },
    { rootMargin: "-20% 0px -60% 0px" },
  );
  for (const id of links.keys()) observer.observe(S.byId(id));

  function mark(link, current) {
    if (current === link.hasAttribute("aria-current")) return;
    if (!current) return link.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    const strip = link.closest("nav");
    if (strip.scrollWidth > strip.clientWidth) strip.scrollLeft = link.offsetLeft - strip.clientWidth / 3;
  }
})();
