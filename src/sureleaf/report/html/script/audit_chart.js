// What the model states against what came true, bin by bin.
"use strict";

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
        return `${S.label(bin.class).replace(/[{}|]/g, " ")}\nstated ${percent(bin.stated)}\ncame true ${percent(bin.probability)} (${S.points(bin.low)} to ${S.points(bin.high)})\n${S.count(bin.n)} rows${bin.agrees ? "" : "\nstated outside the interval"}`;
      }, { trigger: "item" }),
      xAxis: S.shareAxis(c, "stated probability, %", { min: from, interval }),
      yAxis: S.shareAxis(c, "how often it came true, %", { min: from, interval, nameGap: 36 }),
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
