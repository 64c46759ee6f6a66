// Where nodes and branches of the diagram stand: from left to right, a leaf a line.
"use strict";

(() => {
  const S = window.Sureleaf;
  const { nodes, columns } = S.report.tree;
  const LEAF = 26, INNER = 40, GAP = 8, WIDEST = 26, CURVE = 34, MARGIN = 14;
  const byNode = new Map(nodes.map((node) => [node.id, node]));
  const root = nodes[0];

  const canvas = document.createElement("canvas").getContext("2d");
  const family = getComputedStyle(document.body).fontFamily;
  function textWidth(text, font) {
    canvas.font = `${font} ${family}`;
    return canvas.measureText(text).width;
  }
  const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

  const isLeaf = (node) => node.children.length === 0;
  const rowsText = (n) => `${S.count(n)} row${n === 1 ? "" : "s"}`;

  // The node asks about the column; its branches need only the values.
  function edgeLabel(node) {
    const parent = byNode.get(node.parent), branch = parent.children.indexOf(node.id);
    if (parent.branch_of_category) {
      const categories = columns[parent.column].categories || [];
      const mine = categories.filter((_, code) => parent.branch_of_category[code] === branch);
      if (mine.length) return mine.join(", ");
    }
    if (parent.threshold_text !== null) return `${branch === 0 ? "≤" : ">"} ${parent.threshold_text}`;
    return node.edge;
  }

  const leavesUnder = new Map();
  for (const node of [...nodes].reverse())
    leavesUnder.set(node.id, isLeaf(node) ? 1 : node.children.reduce((sum, id) => sum + leavesUnder.get(id), 0));

  function words(node, open) {
    const share = S.percent(node.probability, 0), name = cut(S.label(node.prediction), 18);
    if (isLeaf(node)) return { name, sub: `${share} · ${rowsText(node.n)}` };
    const below = open ? "" : ` · ${leavesUnder.get(node.id)} leaves`;
    return { name: cut(columns[node.column].name, 24), sub: `${cut(name, 12)} ${share} · ${rowsText(node.n)}${below}` };
  }

  function boxOf(node, open) {
    const told = words(node, open);
    const name = textWidth(told.name, "600 12.5px"), sub = textWidth(told.sub, "11px");
    if (isLeaf(node)) return { told, width: name + sub + 30 + (node.flagged ? 20 : 0), height: LEAF };
    return { told, width: Math.max(name, sub) + 34, height: INNER };
  }

  function layout(expanded) {
    const placed = new Map(), order = [], widths = [], labels = [];
    let line = MARGIN;
    (function visit(node, depth) {
      const open = expanded.has(node.id) && !isLeaf(node);
      const item = { node, depth, open, ...boxOf(node, open) };
      placed.set(node.id, item);
      order.push(item);
      widths[depth] = Math.max(widths[depth] || 0, item.width);
      if (node.parent !== null) {
        item.label = cut(edgeLabel(node), 28);
        labels[depth] = Math.max(labels[depth] || 0, textWidth(item.label, "11.5px") + 16);
      }
      if (!open) {
        item.y = line + item.height / 2;
        line += item.height + GAP;
        return;
      }
      for (const child of node.children) visit(byNode.get(child), depth + 1);
      item.y = (placed.get(node.children[0]).y + placed.get(node.children.at(-1)).y) / 2;
    })(root, 0);

    const lefts = [MARGIN];
    for (let depth = 1; depth < widths.length; depth++)
      lefts[depth] = lefts[depth - 1] + widths[depth - 1] + CURVE + labels[depth] + 10;
    for (const item of order) item.x = lefts[item.depth];

    const branches = [];
    for (const item of order) {
      if (!item.open) continue;
      const thick = item.node.children.map((id) => Math.max(1.2, (WIDEST * byNode.get(id).n) / (root.n || 1)));
      let at = item.y - thick.reduce((sum, each) => sum + each, 0) / 2;
      item.node.children.forEach((id, branch) => {
        const child = placed.get(id);
        branches.push({ to: child, thick: thick[branch], x: item.x + item.width, y: at + thick[branch] / 2, bend: child.x - labels[child.depth] });
        at += thick[branch];
      });
    }
    const height = Math.max(line - GAP + MARGIN, INNER + 2 * MARGIN);
    return { order, placed, branches, height, width: Math.max(...order.map((item) => item.x + item.width)) + MARGIN + 14 };
  }

  function pathTo(id) {
    const path = [];
    for (let node = byNode.get(id); node; node = byNode.get(node.parent)) path.unshift(node.id);
    return path;
  }

  const ruleOf = (id) => pathTo(id).slice(1).map((step) => byNode.get(step).edge).join(" and ") || "all rows";

  Object.assign(S, { treeParts: { ruleOf, byNode, root, isLeaf, edgeLabel, leavesUnder, rowsText, layout, pathTo } });
})();
