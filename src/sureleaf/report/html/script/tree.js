// What one can do with the diagram: open, close, choose, search, zoom, follow a path.
"use strict";

(() => {
  const S = window.Sureleaf;
  const { byId } = S;
  const { byNode, root, isLeaf, edgeLabel, layout, pathTo } = S.treeParts;
  const nodes = S.report.tree.nodes, view = byId("tree-view");
  const AT_FIRST = view.clientWidth < 600 ? 8 : 24;
  const state = { chosen: null, focus: root.id, found: new Set(), shares: new Map(), expanded: firstLevels() };
  let scale = 1, places = null, zoomed = false;

  // As many whole levels as leave the picture readable.
  function firstLevels() {
    const open = new Set();
    let level = [root], ends = 1;
    while (level.length) {
      const inner = level.filter((node) => !isLeaf(node));
      const more = inner.reduce((sum, node) => sum + node.children.length - 1, 0);
      if (open.size && ends + more > AT_FIRST) break;
      for (const node of inner) open.add(node.id);
      ends += more;
      level = inner.flatMap((node) => node.children.map((id) => byNode.get(id)));
    }
    return open;
  }

  function redraw({ focus = false } = {}) {
    places = layout(state.expanded);
    if (!places.placed.has(state.focus)) state.focus = root.id;
    view.replaceChildren(S.drawTree(places, state, scale));
    if (focus) {
      const item = view.querySelector(`[data-node="${state.focus}"]`);
      item.focus({ preventScroll: true });
      reveal(state.focus);
    }
  }

  function reveal(id) {
    const item = places.placed.get(id);
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
    const order = places.order.map((one) => one.node.id), at = order.indexOf(id);
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
    if (zoomed) return;
    const { width, height } = layout(state.expanded);
    const fitting = Math.min((view.clientWidth - 2) / width, limit() / height);
    scale = fitting >= 1 ? Math.min(1.2, fitting) : Math.max(fitting, 0.8);
  }
  const limit = () => Math.min(704, 0.72 * window.innerHeight);
  byId("tree-in").addEventListener("click", () => zoom(scale * 1.25));
  byId("tree-out").addEventListener("click", () => zoom(scale / 1.25));
  byId("tree-fit").addEventListener("click", () => zoom(Math.min(1.25, view.clientWidth / places.width, limit() / places.height)));
  byId("tree-expand").addEventListener("click", () => {
    for (const node of nodes) if (!isLeaf(node)) state.expanded.add(node.id);
    redraw();
  });
  byId("tree-collapse").addEventListener("click", () => {
    state.expanded = firstLevels();
    redraw();
    view.scrollTo(0, 0);
  });

  function matches(node, wanted) {
    const told = isLeaf(node) ? [S.label(node.prediction), `leaf ${node.id}`] : [S.report.tree.columns[node.column].name];
    if (node.parent !== null) told.push(edgeLabel(node));
    // A column's name alone means the nodes that ask for it, not every branch below them.
    if (/[ =<>]/.test(wanted)) told.push(node.edge);
    return told.some((text) => text && text.toLowerCase().includes(wanted));
  }
  const search = byId("tree-search");
  let turn = 0;
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase();
    const hits = wanted ? nodes.filter((node) => matches(node, wanted)) : [];
    state.found = new Set(hits.map((node) => node.id));
    for (const node of hits.slice(0, 60)) openTo(node.id);
    byId("tree-found").textContent = wanted ? `${hits.length} ${hits.length === 1 ? "node" : "nodes"} found` : "";
    turn = 0;
    redraw();
    if (hits.length) reveal(hits[0].id);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !state.found.size) return;
    const hits = [...state.found];
    choose(hits[turn++ % hits.length]);
    reveal(state.chosen);
  });

  const legend = byId("tree-legend");
  S.report.data.classes.forEach((one, place) =>
    legend.append(S.element("li", {}, S.element("span", { class: "swatch", swatch: S.colour(place), "aria-hidden": "true" }), one.label)),
  );

  suit();
  redraw();
  const middle = places.placed.get(root.id).y * scale - view.clientHeight / 2;
  if (middle > 0) view.scrollTop = middle;

  S.tree = { show, follow, choose, unchoose, state };
})();
