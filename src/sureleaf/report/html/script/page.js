"use strict";

// The report's numbers, and the few ways in which scripts add to the page.
// Text from the data enters the page as text nodes and attribute values only, never as markup.
window.Sureleaf = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const report = JSON.parse(document.getElementById("document").textContent);
  // Records come as columns: a name is there once, not once a record.
  function unpack(columns) {
    const names = Object.keys(columns);
    return columns[names[0]].map((_, at) => Object.fromEntries(names.map((name) => [name, columns[name][at]])));
  }
  function unpackTree({ nodes, leaf, inner }) {
    const every = unpack(nodes), parents = new Set(nodes.parent);
    const leaves = unpack(leaf), others = unpack(inner);
    const none = Object.fromEntries([...Object.keys(leaf), ...Object.keys(inner)].map((name) => [name, null]));
    for (const node of every) Object.assign(node, none, { children: [], probability: node.probabilities[node.prediction] }, (parents.has(node.id) ? others : leaves).shift());
    return every;
  }
  if (report.tree) report.tree.nodes = unpackTree(report.tree);

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
      else if (name === "swatch") node.style.setProperty("--swatch", value);
      else node.setAttribute(name, value === true ? "" : String(value));
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
  }
  const element = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const drawn = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const byId = (id) => document.getElementById(id);

  const SPACE = "\u00a0", NOTHING = "–";
  const grouped = (value, digits) =>
    value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  function percent(value, digits = 1) {
    if (value === null || value === undefined) return NOTHING;
    if (Math.min(Math.abs(value), Math.abs(value - 1)) < 1e-9) return `${Math.round(100 * value)}${SPACE}%`;
    const text = (100 * value).toFixed(digits), step = 10 ** -digits;
    if (Number(text) >= 100 && value < 1) return `>${SPACE}${(100 - step).toFixed(digits)}${SPACE}%`;
    if (Number(text) === 0 && value > 0) return `<${SPACE}${step.toFixed(digits)}${SPACE}%`;
    return `${text}${SPACE}%`;
  }
  const points = (value) => (value === null ? NOTHING : (100 * value).toFixed(1));
  function count(value) {
    if (value === null || value === undefined) return NOTHING;
    return Math.abs(value - Math.round(value)) < 5e-3 ? grouped(Math.round(value), 0) : grouped(value, 2);
  }
  function number(value) {
    if (value === null || value === undefined) return NOTHING;
    if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
    if (Math.abs(value) >= 1000) return grouped(value, 0);
    return Math.abs(value) >= 1e-3 ? value.toFixed(3) : String(Number(value.toPrecision(2)));
  }

  // A cost with its unit, as formatting.amount writes it.
  function amount(value) {
    const { unit } = report.data;
    if (value === null || value === undefined || !unit) return number(value);
    const size = Math.abs(value), digits = size >= 1000 ? 0 : size >= 0.01 || size === 0 ? 2 : 3;
    const text = size === 0 || size >= 5e-4 ? grouped(size, digits) : String(Number(size.toPrecision(1)));
    return `${value < 0 ? "−" : ""}${/^[^\p{L}]$/u.test(unit) ? `${unit}${text}` : `${text}${SPACE}${unit}`}`;
  }

  // Counts as whole numbers with the same sum, as whole in page.py.
  function whole(counts) {
    const rounded = counts.map((count) => Math.floor(count + 1e-6));
    const missing = Math.round(counts.reduce((sum, count) => sum + count, 0)) - rounded.reduce((sum, count) => sum + count, 0);
    const order = counts.map((_, index) => index).sort((a, b) => rounded[a] - counts[a] - (rounded[b] - counts[b]) || a - b);
    for (const index of order.slice(0, missing)) rounded[index]++;
    return rounded;
  }

  // Eight colours that colour-blind readers can tell apart; beyond them labels must do.
  const colour = (index) =>
    index < 8 ? `var(--class-${index})` : `hsl(${Math.round(index * 137.508) % 360} 45% 55%)`;
  const label = (index) => report.data.classes[index].label;

  for (const swatch of document.querySelectorAll(".swatch[data-class]"))
    swatch.style.setProperty("--swatch", colour(Number(swatch.dataset.class)));

  function shareBar(share, swatch) {
    const inner = element("span", {});
    inner.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
    return element("span", { class: "share", "aria-hidden": "true", swatch }, inner);
  }

  return { report, unpack, element, drawn, byId, percent, points, count, number, amount, whole, colour, label, shareBar };
})();

// How a chart is put on the page: in the page's colours, redrawn when these or the width change.
(() => {
  const S = window.Sureleaf;
  const charts = [];

  function colours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    return {
      ink: of("--ink"), soft: of("--soft"), line: of("--line"), strong: of("--line-strong"), paper: of("--paper"),
      accent: of("--accent"), plain: of("--plain"), warn: of("--warn"),
    };
  }

  // The band between low and high: an invisible line, and the height above it stacked on it.
  function band(x, low, high, colour, name) {
    const kept = x.map((_, i) => i).filter((i) => low[i] !== null && high[i] !== null);
    const shared = { type: "line", stack: name, stackStrategy: "all", symbol: "none", silent: true, tooltip: { show: false }, lineStyle: { opacity: 0 }, z: 1 };
    return [
      { ...shared, data: kept.map((i) => [x[i], low[i]]) },
      { ...shared, data: kept.map((i) => [x[i], high[i] - low[i]]), areaStyle: { color: colour, opacity: 0.2 } },
    ];
  }

  function axis(c, name, more) {
    return {
      type: "value", name, nameLocation: "middle", nameGap: 30,
      nameTextStyle: { color: c.soft, fontSize: 12.5 }, axisLabel: { color: c.soft, fontSize: 11.5 },
      axisLine: { show: true, lineStyle: { color: c.strong } }, axisTick: { lineStyle: { color: c.strong } },
      splitLine: { lineStyle: { color: c.line } }, ...more,
    };
  }
  const shares = { min: 0, max: 1, interval: 0.25, axisLabel: { formatter: (value) => `${Math.round(100 * value)}` } };
  function shareAxis(c, name, more) {
    const options = axis(c, name, { ...shares, ...more });
    options.axisLabel = { color: c.soft, fontSize: 11.5, ...shares.axisLabel };
    return options;
  }

  // Tooltips are drawn as text in the picture, not as HTML.
  function tooltip(c, formatter, more) {
    return { renderMode: "richText", confine: true, backgroundColor: c.paper, borderColor: c.strong, textStyle: { color: c.ink, fontSize: 12.5 }, formatter, ...more };
  }

  // With a view box a chart fits paper of any width.
  function scalable({ container, drawn }) {
    container.querySelector("svg").setAttribute("viewBox", `0 0 ${drawn.getWidth()} ${drawn.getHeight()}`);
  }

  function chart(id, option) {
    const container = S.byId(id);
    if (!container) return null;
    const one = { container, drawn: echarts.init(container, null, { renderer: "svg" }), option };
    one.draw = () => {
      const base = {
        animation: false, backgroundColor: "transparent",
        textStyle: { fontFamily: getComputedStyle(document.body).fontFamily },
      };
      one.drawn.setOption({ ...base, ...one.option(colours()) }, true);
      scalable(one);
    };
    one.draw();
    new ResizeObserver(() => {
      if (window.matchMedia("print").matches) return; // paper scales what is there
      one.drawn.resize();
      one.draw(); // names are placed by the width
    }).observe(container);
    charts.push(one);
    return one;
  }

  function redraw() {
    for (const one of charts) {
      one.drawn.resize();
      one.draw();
    }
  }

  Object.assign(S, { chart, redraw, band, axis, shareAxis, tooltip });
})();

// Light or dark, and where in the report the reader is.
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

// A table that is sorted by its heads, filtered by its tools and taken away as CSV.
(() => {
  const S = window.Sureleaf;
  const { element, byId } = S;

  // Spreadsheets run text that begins like a formula; an apostrophe keeps it text. Text that begins
  // with an apostrophe gets another, so that removing one gives every text back.
  function cell(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    if (typeof value === "boolean") return value ? "yes" : "no";
    const isNumber = /^[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?$/.test(value);
    const text = /^[=+\-@＝＋－＠\t\r\n']/.test(value) && !isNumber ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }
  const csvText = (lines) => lines.map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
  function download(text, name) {
    const url = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
    const link = element("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }

  // Narrow screens show the tables of an audit without heads, so they sort by a menu.
  function sortMenu(heads, sortBy) {
    const menu = element("select");
    menu.append(element("option", { value: "", disabled: "", selected: "" }, "as listed"));
    heads.forEach((head, at) => {
      const name = head.textContent.trim();
      menu.append(element("option", { value: `${at} up` }, `${name}, ascending`), element("option", { value: `${at} down` }, `${name}, descending`));
    });
    menu.addEventListener("change", () => {
      const [at, direction] = menu.value.split(" ");
      sortBy(heads[Number(at)], direction === "down");
    });
    const label = element("label", { class: "sort-menu" }, "Sort by ");
    label.append(menu);
    return label;
  }

  // keys: by data-key of a head, the value of a record to sort by; nothing sorts last.
  // csv: { file, names, values: record -> cells }.
  S.table = (prefix, { recordOf, keys, noun, csv }) => {
    const table = byId(`${prefix}-table`), body = table.tBodies[0];
    const lines = [...body.rows], heads = [...table.tHead.rows[0].cells];
    const searched = heads.filter((head) => head.dataset.searched !== undefined).map((head) => head.cellIndex);

    function sortBy(head, down = head.getAttribute("aria-sort") === "ascending") {
      for (const other of heads) if (other.dataset.key) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = lines.map((line, at) => ({ line, at, key: keys[head.dataset.key](recordOf(line)) ?? Infinity }));
      keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0) * (down ? -1 : 1) || a.at - b.at);
      body.append(...keyed.map((one) => one.line));
    }
    const first = lines.map((line) => keys[heads[0].dataset.key](recordOf(line)));
    const inOrder = first.every((key, at) => at === 0 || first[at - 1] <= key);
    for (const head of heads) {
      if (!head.dataset.key) continue;
      head.append(element("button", { type: "button", "aria-label": `Sort by ${head.textContent.trim()}` }));
      head.addEventListener("click", () => sortBy(head));
      head.setAttribute("aria-sort", head === heads[0] && inOrder ? "ascending" : "none");
    }
    if (table.classList.contains("audited"))
      table.closest(".scroll").before(sortMenu(heads.filter((head) => head.dataset.key), sortBy));

    const filter = byId(`${prefix}-filter`), only = byId(`${prefix}-flagged`), ofClass = byId(`${prefix}-class`);
    if (!filter) return;
    function show() {
      const wanted = filter.value.trim().toLowerCase();
      let shown = 0;
      for (const line of lines) {
        const text = searched.map((at) => line.cells[at].textContent).join(" ").toLowerCase();
        const fits = (!wanted || text.includes(wanted)) && (!only.checked || line.classList.contains("flagged")) && (ofClass.value === "" || line.dataset.class === ofClass.value);
        line.hidden = !fits;
        shown += fits;
      }
      byId(`${prefix}-found`).textContent = shown === lines.length ? "" : `${shown} of ${lines.length} ${noun}`;
    }
    for (const control of [filter, only, ofClass]) control.addEventListener("input", show);

    byId(`${prefix}-csv`).addEventListener("click", () => {
      const kept = [...body.rows].filter((line) => !line.hidden).map((line) => csv.values(recordOf(line)));
      download(csvText([csv.names, ...kept]), csv.file);
    });
  };
})();

// On paper everything is light, open where it should be, and as wide as the page.
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

// The paragraph for the paper, with its references, to the clipboard.
(() => {
  const button = document.getElementById("paper-copy");
  if (!button) return;
  const text = document.getElementById("paper-text"), status = document.getElementById("paper-copied");
  button.addEventListener("click", async () => {
    const chosen = document.createRange();
    chosen.selectNodeContents(text);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(chosen);
    try {
      await navigator.clipboard.writeText(text.textContent);
      status.textContent = "Copied.";
    } catch {
      status.textContent = document.execCommand("copy") ? "Copied." : "Selected: press Ctrl-C to copy it.";
    }
  });
})();
