// The report's numbers, and the few ways in which scripts add to the page.
// Text from the data enters the page as text nodes and attribute values only, never as markup.
"use strict";

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

  // Eight colours that colour-blind readers can tell apart; beyond them labels must do.
  const colour = (place) =>
    place < 8 ? `var(--class-${place})` : `hsl(${Math.round(place * 137.508) % 360} 45% 55%)`;
  const label = (place) => report.data.classes[place].label;

  for (const swatch of document.querySelectorAll(".swatch[data-class]"))
    swatch.style.setProperty("--swatch", colour(Number(swatch.dataset.class)));

  function shareBar(share, swatch) {
    const inner = element("span", {});
    inner.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
    return element("span", { class: "share", "aria-hidden": "true", swatch }, inner);
  }

  return { report, unpack, element, drawn, byId, percent, points, count, number, colour, label, shareBar };
})();
