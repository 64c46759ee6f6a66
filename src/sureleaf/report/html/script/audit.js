"use strict";

// The tables of an audit: leaves, bins and trees.
(() => {
  const S = window.Sureleaf;
  const { report, byId } = S;
  const by = (names) => Object.fromEntries(names.map((name) => [name, (one) => one[name]]));
  const shared = {
    ...by(["stated", "probability", "confidence", "utility", "cost"]),
    rows: (one) => one.n,
    predicts: (one) => S.label(one.class).toLowerCase(),
    needed: (one) => one.rows_needed,
  };
  const classes = report.data.classes.map((one) => `rows of ${one.label}`);
  const costs = "cost" in report.bins ? ["cost"] : [];
  const levels = ["stated", "agrees", "probability", "low", "high", "confidence", "utility", ...costs, "rows_needed", "flagged"];

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

// Predicted probability against observed share, bin by bin.
(() => {
  const S = window.Sureleaf;
  const bins = S.unpack(S.report.bins).filter((bin) => bin.probability !== null);
  const percent = (value) => S.percent(value).replace(/\u00a0/g, " ");
  const most = Math.max(...bins.map((bin) => bin.n));
  const least = Math.min(...bins.map((bin) => Math.min(bin.stated, bin.low)));
  const [from, interval] = [[0.8, 0.05], [0.5, 0.1], [0.25, 0.25], [0, 0.25]].find(([start]) => least >= start);

  S.chart("chart-bins", (c) => {
    const colourOf = (bin) => (bin.agrees ? c.accent : c.warn);
    return {
      grid: { left: 56, right: 20, top: 16, bottom: 52 },
      tooltip: S.tooltip(c, (at) => {
        const bin = bins[at.dataIndex];
        return `${S.label(bin.class).replace(/[{}|]/g, " ")}\npredicted ${percent(bin.stated)}\nobserved ${percent(bin.probability)} (${S.points(bin.low)} to ${S.points(bin.high)})\n${S.count(bin.n)} rows${bin.agrees ? "" : "\nprediction outside the interval"}`;
      }, { trigger: "item" }),
      xAxis: S.shareAxis(c, "predicted probability, %", { min: from, interval }),
      yAxis: S.shareAxis(c, "observed share, %", { min: from, interval, nameGap: 36 }),
      series: [
        { type: "line", data: [[from, from], [1, 1]], symbol: "none", silent: true, lineStyle: { color: c.strong, type: "dashed", width: 1 } },
        ...bins.map((bin) => ({
          type: "line", data: [[bin.stated, bin.low], [bin.stated, bin.high]], symbol: "none", silent: true, clip: true, z: 2,
          lineStyle: { color: colourOf(bin), width: 6, opacity: 0.32, cap: "round" },
        })),
        {
          type: "scatter", z: 3,
          data: bins.map((bin) => ({ value: [bin.stated, bin.probability], symbolSize: 7 + 13 * Math.sqrt(bin.n / most), itemStyle: { color: colourOf(bin), borderColor: c.paper } })),
        },
      ],
    };
  });
})();
