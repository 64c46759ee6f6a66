// The diagram as SVG: branches first, then nodes, each a treeitem that says what it is.
"use strict";

(() => {
  const S = window.Sureleaf;
  const { drawn } = S;
  const { byNode, isLeaf, leavesUnder } = S.treeParts;

  function ribbon({ x, y, to, thick, bend }) {
    const half = thick / 2, middle = (x + bend) / 2, side = (sign) => sign * half;
    return (
      `M${x},${y + side(-1)}C${middle},${y + side(-1)} ${middle},${to.y + side(-1)} ${bend},${to.y + side(-1)}L${to.x},${to.y + side(-1)}` +
      `L${to.x},${to.y + half}L${bend},${to.y + half}C${middle},${to.y + half} ${middle},${y + half} ${x},${y + half}Z`
    );
  }

  // What is written on the node first, so that it can be called by what is seen.
  function spoken({ node, told }) {
    const edge = node.edge ? `, where ${node.edge}` : "";
    const seen = `${told.name} ${told.sub}`;
    if (isLeaf(node)) return `${seen}: leaf ${node.id}, predicts ${S.label(node.prediction)}${node.flagged ? ", not to be trusted" : ""}${edge}`;
    return `${seen}: asks for ${S.report.tree.columns[node.column].name}, ${leavesUnder.get(node.id)} leaves below${edge}`;
  }

  // From a faint to a clear tint of the class's colour; the text on it stays readable.
  const strength = (probability) => 0.08 + 0.34 * Math.max(0, Math.min(1, 2 * probability - 1));

  function box(item) {
    const { node, told, width, height } = item;
    const parts = [
      drawn("rect", { class: "halo", x: -4, y: -height / 2 - 4, width: width + 8, height: height + 8, rx: 8 }),
      drawn("rect", { class: "box", y: -height / 2, width, height, rx: 5 }),
    ];
    if (isLeaf(node)) {
      parts.push(drawn("rect", { class: "strip", x: 0.5, y: -height / 2 + 0.5, width: width - 1, height: height - 1, rx: 5, opacity: strength(node.probability) }));
      parts.push(drawn("rect", { class: "strip", y: -height / 2, width: 5, height, rx: 2 }));
      const text = drawn("text", { x: 12, y: 4.5 }, drawn("tspan", { class: "name" }, told.name), " ", drawn("tspan", { class: "sub", dx: 2 }, told.sub));
      parts.push(text);
      if (node.flagged) {
        parts.push(drawn("rect", { class: "warn-box", x: width - 19, y: -7, width: 14, height: 14, rx: 3 }));
        parts.push(drawn("path", { class: "warn-sign", d: `M${width - 12},-4v5m0,2v1.500` }));
      }
      return parts;
    }
    parts.push(drawn("text", {}, drawn("tspan", { class: "name", x: 10, y: -3 }, told.name), " ", drawn("tspan", { class: "sub", x: 10, y: 12 }, told.sub)));
    parts.push(drawn("circle", { class: "handle", cx: width, r: 8 }), drawn("path", { class: "handle-sign", d: `M${width - 4},0h8${item.open ? "" : "m-4,-4v8"}` }));
    return parts;
  }

  function nodeGroup(item, state) {
    const { node } = item;
    const siblings = node.parent === null ? [node.id] : byNode.get(node.parent).children;
    const classes = ["node", isLeaf(node) ? "leaf" : "inner"];
    if (node.flagged) classes.push("flagged");
    if (state.found.has(node.id)) classes.push("found");
    if (state.shares.has(node.id)) classes.push("on-path");
    const group = drawn(
      "g",
      {
        class: classes.join(" "), transform: `translate(${item.x},${item.y})`, role: "treeitem", "data-node": node.id,
        "aria-level": item.depth + 1, "aria-setsize": siblings.length, "aria-posinset": siblings.indexOf(node.id) + 1,
        "aria-expanded": isLeaf(node) ? null : String(item.open), "aria-selected": String(state.chosen === node.id),
        "aria-label": spoken(item), tabindex: state.focus === node.id ? 0 : -1, swatch: S.colour(node.prediction),
      },
      box(item),
    );
    return group;
  }

  function draw(found, state, scale) {
    const edges = drawn("g", { "aria-hidden": "true" }), labels = drawn("g", { "aria-hidden": "true" });
    for (const branch of found.branches) {
      const { node } = branch.to, share = state.shares.get(node.id);
      edges.append(drawn("path", { class: share ? "edge on-path" : "edge", d: ribbon(branch) }));
      const said = share && share < 0.9995 ? `${branch.to.label}  (${S.percent(share, 0)})` : branch.to.label;
      labels.append(drawn("text", { class: "edge-label", x: branch.to.x - 8, y: branch.to.y + (branch.thick > 15 ? 4 : -branch.thick / 2 - 3.5), "text-anchor": "end" }, drawn("title", {}, node.edge), said));
    }
    const items = drawn("g", { role: "tree", "aria-label": "The tree" }, found.order.map((item) => nodeGroup(item, state)));
    return drawn(
      "svg",
      { viewBox: `0 0 ${found.width} ${found.height}`, width: found.width * scale, height: found.height * scale },
      edges, labels, items,
    );
  }

  Object.assign(S, { drawTree: draw });
})();
