// The tables of an audit: leaves, bins and trees.
"use strict";

(() => {
  const S = window.Sureleaf;
  const { report, byId } = S;
  const by = (names) => Object.fromEntries(names.map((name) => [name, (one) => one[name]]));
  const shared = {
    ...by(["stated", "probability", "confidence", "utility"]),
    rows: (one) => one.n,
    predicts: (one) => S.label(one.class).toLowerCase(),
    needed: (one) => one.rows_needed,
  };
  const classes = report.data.classes.map((one) => `rows of ${one.label}`);
  const levels = ["stated", "agrees", "probability", "low", "high", "confidence", "utility", "rows_needed", "flagged"];

  function audited(prefix, noun, records, first, keys) {
    S.table(prefix, {
      noun,
      recordOf: (line) => records[Number(line.dataset.at)],
      keys: { ...shared, ...keys },
      csv: {
        file: `${noun}.csv`,
        names: [...first, "rows", "predicts", ...levels, ...classes],
        values: (one) => [...first.map((name) => one[name]), one.n, S.label(one.class), ...levels.map((name) => one[name]), ...one.counts],
      },
    });
  }

  if (report.leaves) {
    const leaves = S.unpack(report.leaves), ofForest = report.trees !== null;
    for (const line of byId("leaf-table").tBodies[0].rows) if (!ofForest) leaves[Number(line.dataset.at)].rule = line.cells[1].textContent;
    const first = ofForest ? ["tree", "leaf"] : ["leaf", "rule"];
    audited("leaf", "leaves", leaves, first, { ...by(["tree", "leaf"]), rule: (leaf) => leaf.rule.toLowerCase() });
  }
  audited("bin", "bins", S.unpack(report.bins), ["stated_from", "stated_to"], { from: (bin) => bin.stated_from });
  if (report.trees) {
    const trees = S.unpack(report.trees);
    S.table("member", { noun: "trees", recordOf: (line) => trees[Number(line.dataset.at)], keys: by(Object.keys(report.trees)) });
  }
})();
