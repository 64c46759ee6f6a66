"use strict";

// The table of the tree's leaves.
(() => {
  const S = window.Sureleaf;
  const { element, byId, report } = S;
  const { byNode, ruleOf } = S.treeParts;
  const body = byId("leaf-table").tBodies[0];
  const leafOf = (line) => byNode.get(Number(line.dataset.leaf));

  // Rules of many leaves repeat each other; the page brings the branches, and they are joined here.
  for (const line of body.rows) {
    const cell = line.cells[1];
    if (cell.hasChildNodes()) continue;
    const leaf = leafOf(line);
    cell.append(ruleOf(leaf.id));
    if (!leaf.flagged) continue;
    const remarks = [S.whyFlagged(leaf), leaf.repair].filter(Boolean).map(S.upperFirst);
    cell.append(element("br"), element("span", { class: "note" }, remarks.join(". ")));
  }

  S.table("leaf", {
    noun: "leaves",
    recordOf: leafOf,
    keys: {
      leaf: (leaf) => leaf.id,
      rule: (leaf) => ruleOf(leaf.id).toLowerCase(),
      rows: (leaf) => leaf.n,
      predicts: (leaf) => S.label(leaf.prediction).toLowerCase(),
      probability: (leaf) => leaf.probability,
      confidence: (leaf) => leaf.confidence,
      utility: (leaf) => leaf.utility,
      needed: (leaf) => leaf.rows_needed,
    },
    csv: {
      file: "leaves.csv",
      names: ["leaf", "rule", "rows", "predicts", "probability", "low", "high", "confidence", "utility", "rows_needed", "flagged", "repair", ...report.data.classes.map((one) => `rows of ${one.label}`)],
      values: (leaf) => [leaf.id, ruleOf(leaf.id), leaf.n, S.label(leaf.prediction), leaf.probability, leaf.low, leaf.high, leaf.confidence, leaf.utility, leaf.rows_needed, leaf.flagged, leaf.repair, ...leaf.counts],
    },
  });

  // One percentage per leaf at first; the others on demand.
  byId("leaf-more").addEventListener("change", (event) => byId("leaf-table").classList.toggle("all-numbers", event.target.checked));

  body.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link) S.tree.show(Number(link.closest("tr").dataset.leaf));
  });
})();
