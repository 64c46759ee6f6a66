// ROC, calibration and the cost by threshold.
"use strict";

(() => {
  const S = window.Sureleaf;
  const { quality } = S.report;
  const state = S.costs.state;
  const { roc, calibration } = quality;
  const percent = (value) => S.percent(value).replace(/\u00a0/g, " ");

  // Where the chosen threshold stands on the curve.
  function chosenPoint() {
    if (state.threshold === null || roc.class !== quality.positive) return [];
    const yes = quality.positive, no = 1 - yes, counts = state.confusion;
    return [[counts[no][yes] / (counts[no][0] + counts[no][1]), counts[yes][yes] / (counts[yes][0] + counts[yes][1])]];
  }

  const rocChart = roc && S.chart("chart-roc", (c) => ({
    grid: { left: 56, right: 16, top: 16, bottom: 52 },
    tooltip: S.tooltip(c, (at) => `false positives ${percent(at.value[0])}\ntrue positives ${percent(at.value[1])}`, { trigger: "item" }),
    xAxis: S.shareAxis(c, "false positives, %"),
    yAxis: S.shareAxis(c, "true positives, %", { nameGap: 36 }),
    series: [
      ...S.band(roc.false_positive_rate, roc.low, roc.high, c.accent, "roc"),
      { type: "line", data: [[0, 0], [1, 1]], symbol: "none", silent: true, lineStyle: { color: c.strong, type: "dashed", width: 1 } },
      { type: "line", data: roc.false_positive_rate.map((x, i) => [x, roc.true_positive_rate[i]]), symbol: "circle", symbolSize: 5, showSymbol: false, lineStyle: { color: c.accent, width: 2.5 }, itemStyle: { color: c.accent }, z: 3 },
      { type: "scatter", data: chosenPoint(), symbolSize: 13, itemStyle: { color: c.ink, borderColor: c.paper, borderWidth: 2 }, z: 5 },
    ],
  }));

  function sized(c) {
    const most = Math.max(...calibration.count);
    return calibration.stated.map((x, i) => ({ value: [x, calibration.happened[i], calibration.count[i]], symbolSize: 7 + 17 * Math.sqrt(calibration.count[i] / most), itemStyle: { color: c.accent, opacity: 0.85, borderColor: c.paper } }));
  }
  if (calibration) S.chart("chart-calibration", (c) => ({
    grid: { left: 56, right: 16, top: 16, bottom: 52 },
    tooltip: S.tooltip(c, (at) => `stated ${percent(at.value[0])}\nhappened ${percent(at.value[1])}\n${S.count(at.value[2])} rows`, { trigger: "item" }),
    xAxis: S.shareAxis(c, "stated probability, %"),
    yAxis: S.shareAxis(c, "how often it happened, %", { nameGap: 36 }),
    series: [
      ...S.band(calibration.stated, calibration.low, calibration.high, c.plain, "calibration"),
      { type: "line", data: [[0, 0], [1, 1]], symbol: "none", silent: true, lineStyle: { color: c.strong, type: "dashed", width: 1 } },
      { type: "scatter", data: sized(c), z: 3 },
    ],
  }));

  // Costs hold from one score to the next: steps.
  const costChart = quality.scores.kind === "binary" && S.chart("chart-cost", (c) => {
    const tried = S.decisions.costsByThreshold(quality.scores, quality.positive, state.cost);
    const steps = tried.map((one) => [Math.min(one.threshold, 1), one.cost]);
    const shown = Math.min(state.threshold, 1);
    return {
      grid: { left: 64, right: 20, top: 20, bottom: 48 },
      tooltip: S.tooltip(c, (at) => `threshold ${S.number(at[0].value[0])}\ncost a row ${S.number(at[0].value[1])}`, { trigger: "axis", axisPointer: { type: "line", lineStyle: { color: c.strong } } }),
      xAxis: S.axis(c, "threshold", { min: 0, max: 1 }),
      yAxis: S.axis(c, "cost a row", { nameGap: 46, scale: true }),
      series: [
        {
          type: "line", step: "start", data: steps, symbol: "none", lineStyle: { color: c.accent, width: 2 },
          markLine: { symbol: "none", silent: true, animation: false, label: { show: false }, lineStyle: { color: c.ink, type: "solid", width: 2 }, data: [{ xAxis: shown }] },
        },
        { type: "scatter", tooltip: { show: false }, silent: true, data: [[Math.min(state.best.threshold, 1), state.best.cost]], symbolSize: 12, itemStyle: { color: c.warn, borderColor: c.paper, borderWidth: 2 }, z: 5 },
      ],
    };
  });

  state.listeners.push(() => {
    if (rocChart) rocChart.draw();
    if (costChart) costChart.draw();
  });
})();
