"use strict";

// Why a leaf is flagged, and what the words for its numbers mean.
(() => {
  const S = window.Sureleaf;
  const { wanted, terms, at_costs } = S.report.tree;

  // The same text as why_flagged in page.py.
  function whyFlagged(leaf) {
    if (leaf.n <= 0) return "no rows to evaluate it";
    const percentBelow = (share, level) => S.percent(Number(share.toFixed(3)) < level ? share : Math.floor(1000 * share) / 1000);
    const levelText = (share) => `${Number((100 * share).toPrecision(6))}\u00a0%`;
    const reasons = ["confidence", "utility"]
      .filter((name) => wanted[name] !== null && leaf[name] !== null && leaf[name] < wanted[name])
      .map((name) => `${name} ${percentBelow(leaf[name], wanted[name])} is below the wanted ${levelText(wanted[name])}`);
    return reasons.join(" and ") || `another ${at_costs ? "decision is cheaper" : "class is more frequent"}`;
  }

  const upperFirst = (text) => text[0].toUpperCase() + text.slice(1);

  Object.assign(S, { upperFirst, whyFlagged, meanings: terms });
})();

// Positions of the nodes and branches of the diagram: from left to right, one line per leaf.
(() => {
  const S = window.Sureleaf;
  const { nodes, columns } = S.report.tree;
  const LEAF = 26, INNER = 40, GAP = 8, WIDEST = 26, CURVE = 34, MARGIN = 14, LABEL = 15, INDENT = 14;
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
    const { missing } = branchTest(node);
    if (parent.branch_of_category) {
      const categories = columns[parent.column].categories || [];
      const mine = categories.filter((_, code) => parent.branch_of_category[code] === branch);
      if (mine.length) return `${mine.join(", ")}${missing}`;
      return parent.missing_branch === branch ? "missing" : node.edge;
    }
    if (parent.threshold_text !== null) return `${branch === 0 ? "≤" : ">"} ${parent.threshold_text}${missing}`;
    return branch === 0 ? "known" : "missing";
  }

  // The test of the branch to a node: its text without and with missing values, and what passes.
  const OR_MISSING = " or missing", arrives = new Set(S.report.tree.missing_arrives);
  function branchTest(node) {
    const parent = byNode.get(node.parent), branch = parent.children.indexOf(node.id);
    const takesMissing = parent.missing_branch === branch;
    const bounded = parent.threshold_text !== null, codes = parent.branch_of_category;
    const onlyMissing = takesMissing && !bounded && (codes ? !codes.includes(branch) : true);
    const missing = takesMissing && arrives.has(parent.id) && !onlyMissing ? OR_MISSING : "";
    const kind = bounded ? ["upTo", "above"][branch] : "other";
    return { column: parent.column, kind, known: node.edge.slice(0, node.edge.length - missing.length), missing, takesMissing, onlyMissing };
  }

  const leavesUnder = new Map(), flaggedUnder = new Map();
  for (const node of [...nodes].reverse()) {
    const sum = (counts) => node.children.reduce((total, id) => total + counts.get(id), 0);
    leavesUnder.set(node.id, isLeaf(node) ? 1 : sum(leavesUnder));
    flaggedUnder.set(node.id, isLeaf(node) ? Number(node.flagged) : sum(flaggedUnder));
  }

  // The one number of a leaf, as in the table: how often it is correct; at costs, how sure it is.
  const level = (node) => (S.report.tree.at_costs ? node.confidence : node.utility);

  function words(node, open, longest) {
    const share = S.percent(isLeaf(node) ? level(node) : node.probability, 0), name = cut(S.label(node.prediction), Math.min(18, longest));
    const isSure = S.report.tree.at_costs ? " sure" : "";
    if (isLeaf(node)) return { name, sub: `${share}${isSure} · ${rowsText(node.n)}` };
    const flagged = flaggedUnder.get(node.id) ? `, ${flaggedUnder.get(node.id)} flagged` : "";
    const sub = open ? `${share} ${cut(name, 12)} · ${rowsText(node.n)}` : `${rowsText(node.n)} · ${leavesUnder.get(node.id)} leaves${flagged}`;
    return { name: cut(columns[node.column].name, longest), sub };
  }

  function boxOf(node, open, longest) {
    const labels = words(node, open, longest);
    const name = textWidth(labels.name, "600 12.5px"), sub = textWidth(labels.sub, "11px");
    if (isLeaf(node)) return { labels, width: name + sub + 30 + (node.flagged ? 20 : 0), height: LEAF };
    const flag = !open && flaggedUnder.get(node.id) ? 20 : 0;
    return { labels, flag, width: Math.max(name + flag, sub) + 34, height: INNER };
  }

  // Where the tests are written: beside the boxes, or above them if that is too wide. In a narrow
  // window every node has a line of its own, further in than its parent.
  function layout(expanded, room) {
    if (room < 600) return place(expanded, "lines");
    const beside = place(expanded, "beside");
    return beside.width <= room ? beside : place(expanded, "above");
  }

  function place(expanded, form) {
    const placed = new Map(), order = [], widths = [], labels = [];
    const inLines = form === "lines", beside = form === "beside";
    let line = MARGIN;
    (function visit(node, depth) {
      const open = expanded.has(node.id) && !isLeaf(node);
      const item = { node, depth, open, form, ...boxOf(node, open, inLines ? 16 : 24) };
      placed.set(node.id, item);
      order.push(item);
      widths[depth] = Math.max(widths[depth] || 0, open ? item.width : 0);
      if (node.parent !== null) {
        item.label = cut(edgeLabel(node), beside ? 28 : 22);
        item.labelWidth = textWidth(item.label, "11.5px");
        labels[depth] = Math.max(labels[depth] || 0, item.labelWidth + 16);
      }
      const above = !beside && item.label ? LABEL : 0;
      if (inLines || !open) {
        item.y = line + above + item.height / 2;
        line += above + item.height + GAP;
      }
      if (!open) return;
      for (const child of node.children) visit(byNode.get(child), depth + 1);
      if (!inLines) item.y = (placed.get(node.children[0]).y + placed.get(node.children.at(-1)).y) / 2;
    })(root, 0);

    const lefts = [MARGIN];
    for (let depth = 1; depth < labels.length; depth++)
      lefts[depth] = lefts[depth - 1] + (inLines ? INDENT : Math.max(widths[depth - 1] + CURVE, beside ? 0 : labels[depth - 1] || 0) + (beside ? labels[depth] + 10 : 0));
    for (const item of order) item.x = lefts[item.depth];

    const branches = [];
    for (const item of order) {
      if (!item.open) continue;
      const thick = item.node.children.map((id) => Math.max(1.2, (WIDEST * byNode.get(id).n) / (root.n || 1)));
      let at = item.y - thick.reduce((sum, each) => sum + each, 0) / 2;
      item.node.children.forEach((id, branch) => {
        const child = placed.get(id);
        const bend = child.x - (beside ? labels[child.depth] : 4);
        branches.push({ from: item, to: child, form, thick: thick[branch], x: item.x + item.width, y: at + thick[branch] / 2, bend });
        at += thick[branch];
      });
    }
    const right = (item) => item.x + Math.max(item.width, beside ? 0 : item.labelWidth || 0);
    const height = Math.max(line - GAP + MARGIN, INNER + 2 * MARGIN);
    return { order, placed, branches, height, inLines, width: Math.max(...order.map(right)) + MARGIN + 14 };
  }

  function pathTo(id) {
    const path = [];
    for (let node = byNode.get(id); node; node = byNode.get(node.parent)) path.unshift(node.id);
    return path;
  }

  // The tests on the path, by the rules of leaf_rules in tree/rules.py: the deepest test of a column
  // in each direction, with missing values if they pass all tests of the column.
  function testsTo(id) {
    const byColumn = new Map();
    for (const step of pathTo(id).slice(1)) {
      const test = branchTest(byNode.get(step));
      const all = byColumn.get(test.column) || { passesMissing: true, onlyMissing: null };
      all[test.kind] = test;
      all.passesMissing = all.passesMissing && test.takesMissing;
      if (test.onlyMissing) all.onlyMissing = test;
      byColumn.set(test.column, all);
    }
    return [...byColumn.values()].flatMap((all) => {
      if (all.onlyMissing) return [all.onlyMissing.known];
      const bounds = [all.above, all.upTo].filter(Boolean);
      return (bounds.length ? bounds : [all.other]).map((test) => `${test.known}${all.passesMissing ? test.missing : ""}`);
    });
  }
  function ruleOf(id) {
    const tests = testsTo(id);
    const several = tests.length > 1;
    return tests.map((test) => (several && test.endsWith(OR_MISSING) ? `(${test})` : test)).join(" and ") || "all rows";
  }

  Object.assign(S, { treeParts: { level, ruleOf, testsTo, byNode, root, isLeaf, edgeLabel, leavesUnder, flaggedUnder, rowsText, layout, pathTo } });
})();

// The diagram as SVG: branches first, then nodes, each a treeitem that says what it is.
(() => {
  const S = window.Sureleaf;
  const { drawn } = S;
  const { byNode, isLeaf, leavesUnder } = S.treeParts;

  function ribbon({ from, form, x, y, to, thick, bend }) {
    if (form === "lines") {
      const left = from.x + 5, end = Math.min(thick, 8);
      return `M${left},${from.y + from.height / 2}V${to.y + end / 2}H${to.x}V${to.y - end / 2}H${left + Math.min(end, 3)}V${from.y + from.height / 2}Z`;
    }
    const half = thick / 2, middle = (x + bend) / 2, side = (sign) => sign * half;
    return (
      `M${x},${y + side(-1)}C${middle},${y + side(-1)} ${middle},${to.y + side(-1)} ${bend},${to.y + side(-1)}L${to.x},${to.y + side(-1)}` +
      `L${to.x},${to.y + half}L${bend},${to.y + half}C${middle},${to.y + half} ${middle},${y + half} ${x},${y + half}Z`
    );
  }

  // What is written on the node first, so that it can be called by what is seen.
  function spoken({ node, labels }) {
    const edge = node.edge ? `, where ${node.edge}` : "";
    const seen = `${labels.name} ${labels.sub}`;
    if (isLeaf(node)) return `${seen}: leaf ${node.id}, predicts ${S.label(node.prediction)}${node.flagged ? ", flagged" : ""}${edge}`;
    return `${seen}: tests ${S.report.tree.columns[node.column].name}, ${leavesUnder.get(node.id)} leaves below${edge}`;
  }

  // From a faint to a clear tint of the class's colour; the text on it stays readable.
  const strength = (share) => 0.08 + 0.34 * Math.max(0, Math.min(1, 2 * share - 1));

  const flagSign = (x, y) => [
    drawn("rect", { class: "warn-box", x, y: y - 7, width: 14, height: 14, rx: 3 }),
    drawn("path", { class: "warn-sign", d: `M${x + 7},${y - 4}v5m0,2v1.500` }),
  ];

  function box(item) {
    const { node, labels, width, height } = item;
    const parts = [
      drawn("rect", { class: "halo", x: -4, y: -height / 2 - 4, width: width + 8, height: height + 8, rx: 8 }),
      drawn("rect", { class: "box", y: -height / 2, width, height, rx: 5 }),
    ];
    if (isLeaf(node)) {
      parts.push(drawn("rect", { class: "strip", x: 0.5, y: -height / 2 + 0.5, width: width - 1, height: height - 1, rx: 5, opacity: strength(S.treeParts.level(node)) }));
      parts.push(drawn("rect", { class: "strip", y: -height / 2, width: 5, height, rx: 2 }));
      const text = drawn("text", { x: 12, y: 4.5 }, drawn("tspan", { class: "name" }, labels.name), " ", drawn("tspan", { class: "sub", dx: 2 }, labels.sub));
      parts.push(text);
      if (node.flagged) parts.push(...flagSign(width - 19, 0));
      return parts;
    }
    parts.push(drawn("text", {}, drawn("tspan", { class: "name", x: 10, y: -3 }, labels.name), " ", drawn("tspan", { class: "sub", x: 10, y: 12 }, labels.sub)));
    if (item.flag) parts.push(...flagSign(width - 27, -10));
    parts.push(drawn("circle", { class: "handle", cx: width, r: 8 }), drawn("path", { class: "handle-sign", d: `M${width - 4},0h8${item.open ? "" : "m-4,-4v8"}` }));
    return parts;
  }

  function nodeGroup(item, state) {
    const { node } = item;
    const siblings = node.parent === null ? [node.id] : byNode.get(node.parent).children;
    const classes = ["node", isLeaf(node) ? "leaf" : "inner"];
    if (node.flagged) classes.push("flagged");
    if (state.matches.has(node.id)) classes.push("found");
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

  function draw(drawing, state, scale) {
    const edges = drawn("g", { "aria-hidden": "true" }), labels = drawn("g", { "aria-hidden": "true" });
    for (const branch of drawing.branches) {
      const { node } = branch.to, share = state.shares.get(node.id);
      edges.append(drawn("path", { class: share ? "edge on-path" : "edge", d: ribbon(branch) }));
      const text = share && share < 0.9995 ? `${branch.to.label}  (${S.percent(share, 0)})` : branch.to.label;
      const at = branch.form === "beside"
        ? { x: branch.to.x - 8, y: branch.to.y + (branch.thick > 15 ? 4 : -branch.thick / 2 - 3.5), "text-anchor": "end" }
        : { x: branch.to.x + 2, y: branch.to.y - branch.to.height / 2 - 4 };
      labels.append(drawn("text", { class: "edge-label", ...at }, drawn("title", {}, node.edge), text));
    }
    const items = drawn("g", { role: "tree", "aria-label": "The tree" }, drawing.order.map((item) => nodeGroup(item, state)));
    return drawn(
      "svg",
      { viewBox: `0 0 ${drawing.width} ${drawing.height}`, width: drawing.width * scale, height: drawing.height * scale },
      edges, labels, items,
    );
  }

  Object.assign(S, { drawTree: draw });
})();

// What one can do with the diagram: open, close, choose, search, zoom, follow a path.
(() => {
  const S = window.Sureleaf;
  const { byId } = S;
  const { byNode, root, isLeaf, edgeLabel, layout, pathTo } = S.treeParts;
  const nodes = S.report.tree.nodes, view = byId("tree-view");
  const SMALLEST = 0.7;
  const state = { chosen: null, focus: root.id, matches: new Set(), shares: new Map(), expanded: new Set() };
  let scale = 1, drawing = null, zoomed = false;
  const placed = () => layout(state.expanded, view.clientWidth - 2);
  // A tree in lines is as tall as it is: the page scrolls, not the panel.
  const limit = (drawing) => (drawing.inLines ? drawing.height + 2 : Math.min(704, 0.72 * window.innerHeight));
  const fitting = (drawing) => Math.min((view.clientWidth - 2) / drawing.width, (limit(drawing) - 2) / drawing.height);

  // As many whole levels as fit the panel and stay readable.
  function openFirstLevels() {
    state.expanded = new Set();
    let level = [root], ends = 1;
    while (level.length) {
      const inner = level.filter((node) => !isLeaf(node));
      ends += inner.reduce((sum, node) => sum + node.children.length - 1, 0);
      for (const node of inner) state.expanded.add(node.id);
      if (level[0] !== root && (ends > (placed().inLines ? 12 : 24) || fitting(placed()) < SMALLEST)) {
        for (const node of inner) state.expanded.delete(node.id);
        return;
      }
      level = inner.flatMap((node) => node.children.map((id) => byNode.get(id)));
    }
  }

  function redraw({ focus = false } = {}) {
    drawing = placed();
    if (!drawing.placed.has(state.focus)) state.focus = root.id;
    view.classList.toggle("in-lines", drawing.inLines);
    view.replaceChildren(S.drawTree(drawing, state, scale));
    if (focus) {
      const item = view.querySelector(`[data-node="${state.focus}"]`);
      item.focus({ preventScroll: true });
      reveal(state.focus);
    }
  }

  function reveal(id) {
    const item = drawing.placed.get(id);
    const [left, top, right, bottom] = [item.x - 160, item.y - 60, item.x + item.width + 40, item.y + 60].map((at) => at * scale);
    if (left < view.scrollLeft) view.scrollLeft = left;
    else if (right > view.scrollLeft + view.clientWidth) view.scrollLeft = Math.min(left, right - view.clientWidth);
    if (top < view.scrollTop || bottom > view.scrollTop + view.clientHeight) view.scrollTop = item.y * scale - view.clientHeight / 2;
  }

  function openTo(id) {
    for (const above of pathTo(id).slice(0, -1)) state.expanded.add(above);
  }
  function toggle(id) {
    if (isLeaf(byNode.get(id))) return;
    if (!state.expanded.delete(id)) state.expanded.add(id);
  }
  function choose(id, options) {
    openTo(id);
    state.chosen = state.focus = id;
    S.showNode(id);
    suit();
    redraw(options);
  }
  function unchoose() {
    state.chosen = null;
    suit();
    redraw({ focus: true });
  }
  // Chosen from elsewhere on the page: a leaf of the table, a row's leaf.
  function show(id) {
    state.shares = new Map(pathTo(id).map((above) => [above, 1]));
    choose(id);
    reveal(id);
  }
  function follow(shares) {
    state.shares = shares;
    for (const id of shares.keys()) openTo(id);
    redraw();
  }

  view.addEventListener("click", (event) => {
    const item = event.target.closest("[data-node]");
    if (!item) return;
    const id = Number(item.dataset.node), node = byNode.get(id);
    const handle = event.target.classList.contains("handle") || event.target.classList.contains("handle-sign");
    if (handle || (!isLeaf(node) && !state.expanded.has(id))) toggle(id);
    choose(id, { focus: true });
  });

  view.addEventListener("keydown", (event) => {
    const item = event.target.closest("[data-node]");
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    const id = Number(item.dataset.node), node = byNode.get(id);
    const order = drawing.order.map((one) => one.node.id), at = order.indexOf(id);
    let focus = id;
    if (event.key === "ArrowDown") focus = order[Math.min(at + 1, order.length - 1)];
    else if (event.key === "ArrowUp") focus = order[Math.max(at - 1, 0)];
    else if (event.key === "Home") focus = order[0];
    else if (event.key === "End") focus = order.at(-1);
    else if (event.key === "ArrowRight") {
      if (!isLeaf(node) && state.expanded.has(id)) focus = node.children[0];
      else toggle(id);
    } else if (event.key === "ArrowLeft") {
      if (state.expanded.has(id) && !isLeaf(node)) state.expanded.delete(id);
      else if (node.parent !== null) focus = node.parent;
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (state.chosen === id) toggle(id);
      choose(id, { focus: true });
      return;
    } else return;
    event.preventDefault();
    state.focus = focus;
    redraw({ focus: true });
  });

  // Panning with the mouse; fingers scroll by themselves.
  let grip = null;
  view.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0 || event.target.closest("[data-node]") || event.target === view) return;
    grip = { x: event.clientX + view.scrollLeft, y: event.clientY + view.scrollTop };
    event.preventDefault();
  });
  window.addEventListener("pointermove", (event) => {
    if (!grip) return;
    view.scrollLeft = grip.x - event.clientX;
    view.scrollTop = grip.y - event.clientY;
  });
  window.addEventListener("pointerup", () => (grip = null));

  function zoom(to) {
    const x = (view.scrollLeft + view.clientWidth / 2) / scale, y = (view.scrollTop + view.clientHeight / 2) / scale;
    scale = Math.min(2.5, Math.max(0.15, to));
    zoomed = true;
    redraw();
    view.scrollLeft = x * scale - view.clientWidth / 2;
    view.scrollTop = y * scale - view.clientHeight / 2;
  }
  // Until the reader zooms: the whole tree if it stays readable so.
  function suit() {
    if (!zoomed) scale = Math.max(Math.min(1.2, fitting(placed())), SMALLEST);
  }
  byId("tree-in").addEventListener("click", () => zoom(scale * 1.25));
  byId("tree-out").addEventListener("click", () => zoom(scale / 1.25));
  byId("tree-fit").addEventListener("click", () => zoom(Math.min(1.25, fitting(drawing))));
  byId("tree-expand").addEventListener("click", () => {
    for (const node of nodes) if (!isLeaf(node)) state.expanded.add(node.id);
    redraw();
    // A large tree is much larger than the panel, and beside its root there is nothing to see.
    if (state.chosen === null) view.scrollTo(...fullest());
    else reveal(state.chosen);
  });
  // Where the panel shows the most nodes; of equal places the highest.
  function fullest() {
    const width = view.clientWidth / scale, height = view.clientHeight / scale;
    const items = [...drawing.order].sort((a, b) => a.y - b.y);
    let most = 0, place = [0, 0];
    items.forEach((first, at) => {
      const left = Math.max(0, Math.min(first.x - 160, drawing.width - width)), top = first.y - 30;
      let n = 0;
      for (let i = at; i < items.length && items[i].y < top + height - 15; i++)
        if (items[i].x >= left && items[i].x < left + 0.8 * width) n++;
      if (n > most) [most, place] = [n, [left * scale, top * scale]];
    });
    return place;
  }
  byId("tree-collapse").addEventListener("click", () => {
    openFirstLevels();
    suit();
    redraw();
    view.scrollTo(0, 0);
  });

  function matches(node, wanted) {
    const texts = isLeaf(node) ? [S.label(node.prediction), `leaf ${node.id}`] : [S.report.tree.columns[node.column].name];
    if (node.parent !== null) texts.push(edgeLabel(node));
    // A column's name alone means the nodes that ask for it, not every branch below them.
    if (/[ =<>]/.test(wanted)) texts.push(node.edge);
    return texts.some((text) => text && text.toLowerCase().includes(wanted));
  }
  const search = byId("tree-search");
  let turn = 0;
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase();
    const hits = wanted ? nodes.filter((node) => matches(node, wanted)) : [];
    state.matches = new Set(hits.map((node) => node.id));
    for (const node of hits.slice(0, 60)) openTo(node.id);
    byId("tree-found").textContent = wanted ? `${hits.length} ${hits.length === 1 ? "node" : "nodes"} found` : "";
    turn = 0;
    redraw();
    if (hits.length) reveal(hits[0].id);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !state.matches.size) return;
    const hits = [...state.matches];
    choose(hits[turn++ % hits.length]);
    reveal(state.chosen);
  });

  const legend = byId("tree-legend");
  S.report.data.classes.forEach((one, index) =>
    legend.append(S.element("li", {}, S.element("span", { class: "swatch", swatch: S.colour(index), "aria-hidden": "true" }), one.label)),
  );

  openFirstLevels();
  suit();
  redraw();
  window.addEventListener("resize", () => {
    suit();
    redraw();
  });
  const middle = drawing.placed.get(root.id).y * scale - view.clientHeight / 2;
  if (middle > 0) view.scrollTop = middle;

  S.tree = { show, follow, choose, unchoose, state };
})();

// What is known about the chosen node.
(() => {
  const S = window.Sureleaf;
  const { element, report } = S;
  const { byNode, isLeaf, leavesUnder, testsTo } = S.treeParts;
  const panel = S.byId("node-panel"), both = S.byId("tree-and-panel");

  function close() {
    panel.hidden = true;
    both.classList.remove("with-panel");
    S.tree.unchoose();
  }

  function conditions(node) {
    const tests = testsTo(node.id);
    if (!tests.length) return element("p", {}, "All rows.");
    return element("ol", {}, tests.map((test) => element("li", {}, test)));
  }

  function facts(node) {
    const list = element("dl", {});
    const add = (name, value) => list.append(element("dt", {}, name), element("dd", {}, value));
    add("Rows", S.count(node.n));
    const verb = report.tree.at_costs ? "decide" : "predict";
    add(isLeaf(node) ? `${S.upperFirst(verb)}s` : `Would ${verb}`, S.label(node.prediction));
    if (!isLeaf(node)) {
      add("Probability", S.percent(node.probability));
      add("Tests", report.tree.columns[node.column].name);
      add("Leaves below", S.count(leavesUnder.get(node.id)));
      if (node.recurrence !== null) add("Returned in", `${S.percent(node.recurrence, 0)} of trees`);
      return list;
    }
    add(report.tree.at_costs ? "Sure of the decision" : "Correct for new rows", S.percent(S.treeParts.level(node)));
    add("Rows needed", node.rows_needed === null ? "not known" : S.count(node.rows_needed));
    return list;
  }

  function classTable(node) {
    const order = node.counts.map((_, index) => index).filter((index) => node.counts[index] > 0 || node.counts.length <= 6);
    order.sort((a, b) => node.counts[b] - node.counts[a] || a - b);
    const head = element("tr", {}, ["class", "rows", "predicted"].map((name, i) => element("th", { scope: "col", class: i ? "num" : null }, name)), element("td", {}));
    const lines = order.map((index) =>
      element(
        "tr", {},
        element("th", { scope: "row" }, element("span", { class: "swatch", swatch: S.colour(index), "aria-hidden": "true" }), S.label(index)),
        element("td", { class: "num" }, S.count(node.counts[index])),
        element("td", { class: "num" }, S.percent(node.probabilities[index])),
        element("td", { class: "bar" }, S.shareBar(node.n ? node.counts[index] / node.n : 0, S.colour(index))),
      ),
    );
    return element("table", {}, element("thead", {}, head), element("tbody", {}, lines));
  }

  // The other numbers of a leaf, each with its meaning.
  function others(node) {
    if (!isLeaf(node)) return "";
    const list = element("dl", {});
    const addLevel = (name, key, value) => list.append(element("dt", {}, name), element("dd", {}, value), element("dd", { class: "meaning" }, S.meanings[key]));
    const ends = node.low === null ? "" : ` (${S.percent(report.tree.wanted.level, 0)} interval ${S.points(node.low)} to ${S.points(node.high)} %)`;
    addLevel("Utility", "utility", S.percent(node.utility));
    addLevel("Confidence", "confidence", S.percent(node.confidence));
    addLevel("Probability", "probability", `${S.percent(node.probability)}${ends}`);
    const about = element("p", { class: "meaning" }, `Rows: ${S.meanings.counts} Predicted: ${S.meanings.stated}`);
    return element("details", { class: "block" }, element("summary", {}, "All numbers and what they mean"), list, element("h4", {}, "Rows by class"), classTable(node), about);
  }

  // Whether to split at another number of rows: Zhang's Figures 1 and 2.
  function splitPlan(node) {
    if (node.counts.length > 2 || report.tree.at_costs || node.children.length > 12) return "";
    const pMax = (one) => Number((Math.max(...one.counts) / one.n).toPrecision(4));
    const parts = node.children.map((id) => byNode.get(id)).filter((one) => one.n > 0);
    const split = parts.map((one) => `${Number((one.n / node.n).toPrecision(6))}:${pMax(one)}`);
    const command = `sureleaf plan --p-max ${pMax(node)} --split "${split.join(",")}"`;
    return element("p", { class: "meaning" }, "Split it or not, at other numbers of rows: ", element("code", {}, command));
  }

  S.showNode = (id) => {
    const node = byNode.get(id);
    const title = element("h3", {}, isLeaf(node) ? `Leaf ${id}` : `Node ${id}`, node.flagged ? element("span", { class: "tone tone-warn" }, element("span", { class: "tone-icon", "aria-hidden": "true" }, "!"), "flagged") : null);
    panel.hidden = false;
    both.classList.add("with-panel");
    panel.replaceChildren(
      element("button", { type: "button", class: "close", "aria-label": "Close", on: { click: close } }, "×"),
      title, node.flagged ? element("p", { class: "why" }, `${S.upperFirst(S.whyFlagged(node))}.`) : "",
      conditions(node), facts(node),
      node.repair ? element("p", { class: "repair" }, `What would help: ${node.repair}.`) : "",
      ...(isLeaf(node) ? [others(node)] : [element("h4", {}, "Rows by class"), classTable(node), splitPlan(node)]),
    );
    panel.dataset.node = id;
  };

})();

// The way of one row through the tree, and what is predicted there.
(() => {
  const S = window.Sureleaf;
  const { byNode, root, isLeaf } = S.treeParts;
  const UNSEEN = -2;

  // The branch a value takes; null for every branch with its share.
  function branchOf(node, value) {
    if (value === null) return node.missing_branch;
    if (node.branch_of_category) {
      const branch = value === UNSEEN ? -1 : node.branch_of_category[value];
      return branch === undefined ? -1 : branch;
    }
    if (value === UNSEEN) return -1;
    return node.threshold_text === null || value <= node.threshold ? 0 : 1;
  }

  // values: by tested column, a number or a category's index, null for missing, UNSEEN for a new category.
  function follow(values) {
    const shares = new Map(), ends = [], reasons = new Set(), { unseen } = S.report.tree;
    let refused = null;
    (function visit(node, share) {
      shares.set(node.id, share);
      if (isLeaf(node)) return ends.push({ id: node.id, share });
      const branch = branchOf(node, values[node.column]);
      if (branch !== null && branch >= 0) return visit(byNode.get(node.children[branch]), share);
      if (branch === -1 && unseen === "stop") return ends.push({ id: node.id, share });
      if (branch === -1 && unseen === "error") return (refused = node.column);
      reasons.add(branch === null ? "missing" : "new");
      node.children.forEach((id, index) => {
        if (node.shares[index] > 0) visit(byNode.get(id), share * node.shares[index]);
      });
    })(root, 1);
    if (refused !== null) return { refused };
    const probabilities = root.probabilities.map((_, index) =>
      ends.reduce((sum, end) => sum + end.share * byNode.get(end.id).probabilities[index], 0),
    );
    const prediction = probabilities.indexOf(Math.max(...probabilities));
    return { shares, ends, reasons: [...reasons].sort(), probabilities, prediction, refused: null };
  }

  Object.assign(S, { rowPath: follow, UNSEEN });
})();

// A row to follow: one of the examples, or values typed in.
(() => {
  const S = window.Sureleaf;
  const { element, byId, report } = S;
  const { columns, example_rows: examples } = report.tree;
  const form = byId("row-form"), result = byId("row-result");
  const DAY = 86400e6, OTHER = "other";

  const CLOCK = /^(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?$/;
  const SPAN = /^(-?)P(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
  function microseconds(text, temporal) {
    if (temporal === "time") {
      const part = CLOCK.exec(text);
      return part ? (Number(part[1]) * 3600 + Number(part[2]) * 60 + Number(part[3] || 0)) * 1e6 : NaN;
    }
    if (temporal === "duration") {
      const part = SPAN.exec(text);
      if (!part) return NaN;
      const [days, hours, minutes, seconds] = part.slice(2).map((one) => Number(one || 0));
      return (part[1] ? -1 : 1) * (days * 86400 + hours * 3600 + minutes * 60 + seconds) * 1e6;
    }
    const zoned = /Z$|[+-]\d{2}:?\d{2}$/.test(text.slice(10)) || text.length <= 10;
    return Date.parse(zoned ? text : `${text}Z`) * 1000;
  }
  function numberOf(text, temporal) {
    if (!temporal) return text.trim() === "" ? NaN : Number(text.trim());
    const moment = microseconds(text.trim(), temporal);
    return temporal === "date" ? moment / DAY : moment;
  }

  function fieldOf(column) {
    if (!column.categories)
      return element("input", { type: "text", inputmode: column.temporal ? null : "decimal", placeholder: "missing", autocomplete: "off" });
    const options = column.categories.map((name, code) => element("option", { value: code }, name));
    const other = column.kind === "ordered" ? null : element("option", { value: OTHER }, "(a new value)");
    return element("select", {}, element("option", { value: "" }, "(missing)"), options, other);
  }
  const fields = columns.map((column) => {
    const field = fieldOf(column);
    form.append(element("label", {}, element("span", {}, column.name), field));
    return field;
  });

  function valueOf(field, column) {
    if (column.categories) return field.value === "" ? null : field.value === OTHER ? S.UNSEEN : Number(field.value);
    if (field.value.trim() === "") return null;
    // An example's own number: its text may be rounded.
    if (field.dataset.text === field.value) return Number(field.dataset.code);
    return numberOf(field.value, column.temporal);
  }

  function showExample(example) {
    columns.forEach((column, index) => {
      const field = fields[index], text = example.values[index], code = example.codes ? example.codes[index] : null;
      delete field.dataset.text;
      if (column.categories) field.value = text === null ? "" : String(code ?? column.categories.indexOf(text));
      else {
        field.value = text ?? "";
        if (text !== null && code !== null) Object.assign(field.dataset, { text, code });
      }
    });
  }

  const chooser = element("select", { id: "row-chooser" }, element("option", { value: "" }, "enter my own row"),
    (examples || []).map((one, index) => element("option", { value: index }, `row ${one.row + 1} (${report.data.target}: ${one.truth})`)));
  form.prepend(element("label", { class: "choose" }, element("span", {}, "Example"), chooser));
  chooser.addEventListener("change", () => {
    if (chooser.value !== "") showExample(examples[Number(chooser.value)]);
    update();
  });
  form.addEventListener("input", (event) => {
    if (event.target === chooser) return;
    chooser.value = "";
    update();
  });
  form.addEventListener("submit", (event) => event.preventDefault());

  function leafLine(end) {
    const node = S.treeParts.byNode.get(end.id);
    const name = `${S.treeParts.isLeaf(node) ? "leaf" : "node"} ${end.id}`;
    const link = element("a", { href: "#tree", on: { click: () => S.tree.choose(end.id) } }, name);
    const flag = node.flagged ? element("span", { class: "flag", title: `flagged: ${S.whyFlagged(node)}` }, "!", element("span", { class: "hidden" }, " flagged")) : null;
    return element("tr", { class: node.flagged ? "flagged" : null }, element("td", { class: "nowrap" }, link, flag ? " " : null, flag), element("td", { class: "num" }, S.percent(end.share)), element("td", {}, S.label(node.prediction)), element("td", { class: "num" }, S.percent(node.confidence)));
  }
  function table(names, lines) {
    const head = names.map(([name, numeric]) => (name ? element("th", { scope: "col", class: numeric ? "num" : null }, name) : element("td", {})));
    return element("table", {}, element("thead", {}, element("tr", {}, head)), element("tbody", {}, lines));
  }

  function tell(path, example) {
    const order = path.probabilities.map((_, index) => index);
    order.sort((a, b) => path.probabilities[b] - path.probabilities[a] || a - b);
    const classes = order.slice(0, 8).map((index) =>
      element("tr", {},
        element("th", { scope: "row" }, element("span", { class: "swatch", swatch: S.colour(index), "aria-hidden": "true" }), S.label(index)),
        element("td", { class: "num", "data-probability": path.probabilities[index] }, S.percent(path.probabilities[index])),
        element("td", { class: "bar" }, S.shareBar(path.probabilities[index], S.colour(index)))),
    );
    const truth = example ? ` Its actual class is ${example.truth}.` : "";
    const many = path.ends.length > 1 ? ` A value is ${path.reasons.join(" or ")}, so the row goes down several branches and ends in ${path.ends.length} leaves or nodes.` : "";
    const ends = [...path.ends].sort((a, b) => b.share - a.share);
    const weak = ends.map((end) => S.treeParts.byNode.get(end.id)).filter((node) => node.flagged);
    const warning = weak.length && ends.length === 1 ? `Leaf ${weak[0].id} is flagged: ${S.whyFlagged(weak[0])}.` : weak.length ? `${weak.length} of these ${ends.length} leaves or nodes are flagged (!).` : null;
    result.replaceChildren(
      element("p", {}, "Predicted: ", element("strong", { id: "row-prediction" }, S.label(path.prediction)), `.${truth}${many}`),
      table([["class"], ["probability", true], [""]], classes),
      element("h4", {}, "Where it ends"),
      table([["leaf"], ["share", true], ["predicts"], ["confidence", true]], ends.slice(0, 12).map(leafLine)),
      warning ? element("p", { class: "why", id: "row-warning" }, warning) : "",
    );
  }

  function update() {
    const values = columns.map((column, index) => valueOf(fields[index], column));
    let wrong = null;
    fields.forEach((field, index) => {
      const bad = Number.isNaN(values[index]);
      field.setAttribute("aria-invalid", String(bad));
      if (bad && !wrong) wrong = columns[index].name;
    });
    if (wrong) return result.replaceChildren(element("p", {}, `${wrong}: enter a number or a date.`));
    const path = S.rowPath(values);
    if (path.refused !== null)
      return result.replaceChildren(element("p", {}, `This tree refuses values of ${columns[path.refused].name} that were not in the training rows.`));
    tell(path, chooser.value === "" ? null : examples[Number(chooser.value)]);
    S.tree.follow(path.shares);
  }

  S.followRow = update;
  byId("row-path").addEventListener("toggle", (event) => {
    if (!event.target.open) return S.tree.follow(new Map());
    if (examples && examples.length && chooser.value === "" && fields.every((field) => field.value === "")) {
      chooser.value = "0";
      showExample(examples[0]);
    }
    update();
  });
})();
