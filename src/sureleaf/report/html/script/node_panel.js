// What is known about the chosen node.
"use strict";

(() => {
  const S = window.Sureleaf;
  const { element, report } = S;
  const { byNode, isLeaf, leavesUnder, pathTo } = S.treeParts;
  const panel = S.byId("node-panel"), both = S.byId("tree-and-panel");

  function close() {
    panel.hidden = true;
    both.classList.remove("with-panel");
    S.tree.unchoose();
  }

  function conditions(node) {
    const path = pathTo(node.id).slice(1);
    if (!path.length) return element("p", {}, "All rows.");
    return element("ol", {}, path.map((id) => element("li", {}, byNode.get(id).edge)));
  }

  function facts(node) {
    const list = element("dl", {});
    const add = (name, value) => list.append(element("dt", {}, name), element("dd", {}, value));
    const addTold = (name, value) => {
      add(name, value);
      list.append(element("dd", { class: "meaning" }, S.meanings[name.toLowerCase()]));
    };
    add("Rows", S.count(node.n));
    add("Predicts", S.label(node.prediction));
    if (!isLeaf(node)) {
      add("Probability", S.percent(node.probability));
      add("Asks for", report.tree.columns[node.column].name);
      add("Leaves below", S.count(leavesUnder.get(node.id)));
      return list;
    }
    addTold("Probability", S.percent(node.probability));
    if (node.low !== null) add(`${S.percent(report.tree.wanted.level, 0)} interval`, `${S.points(node.low)} to ${S.points(node.high)} %`);
    addTold("Confidence", S.percent(node.confidence));
    addTold("Utility", S.percent(node.utility));
    add("Rows needed", node.rows_needed === null ? "not known" : S.count(node.rows_needed));
    return list;
  }

  function classTable(node) {
    const order = node.counts.map((_, place) => place).filter((place) => node.counts[place] > 0 || node.counts.length <= 6);
    order.sort((a, b) => node.counts[b] - node.counts[a] || a - b);
    const head = element("tr", {}, ["class", "rows", "stated"].map((name, i) => element("th", { scope: "col", class: i ? "num" : null }, name)), element("td", {}));
    const lines = order.map((place) =>
      element(
        "tr", {},
        element("th", { scope: "row" }, element("span", { class: "swatch", swatch: S.colour(place), "aria-hidden": "true" }), S.label(place)),
        element("td", { class: "num" }, S.count(node.counts[place])),
        element("td", { class: "num" }, S.percent(node.probabilities[place])),
        element("td", { class: "bar" }, S.shareBar(node.n ? node.counts[place] / node.n : 0, S.colour(place))),
      ),
    );
    return element("table", {}, element("thead", {}, head), element("tbody", {}, lines));
  }

  S.showNode = (id) => {
    const node = byNode.get(id);
    const title = element("h3", {}, isLeaf(node) ? `Leaf ${id}` : `Node ${id}`, node.flagged ? element("span", { class: "tone tone-warn" }, element("span", { class: "tone-icon", "aria-hidden": "true" }, "!"), "not to be trusted") : null);
    panel.hidden = false;
    both.classList.add("with-panel");
    panel.replaceChildren(
      element("button", { type: "button", class: "close", "aria-label": "Close", on: { click: close } }, "×"),
      title, node.flagged ? element("p", { class: "why" }, `${S.upperFirst(S.whyFlagged(node))}.`) : "",
      conditions(node), facts(node),
      node.repair ? element("p", { class: "repair" }, `To repair: ${node.repair}.`) : "",
      element("h4", {}, "Classes of its rows"), classTable(node),
      element("p", { class: "meaning" }, `rows: ${S.meanings.counts}; stated: ${S.meanings.stated}`),
    );
    panel.dataset.node = id;
  };

})();
