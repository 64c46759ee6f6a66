"use strict";

// The learning curve and its extrapolation.
(() => {
  const S = window.Sureleaf;
  const { curve } = S.report.error;
  if (!curve) return;
  const { ahead } = curve;
  const isCost = curve.measure === "cost", name = curve.measure === "auc" ? "AUC" : curve.measure;
  const written = (value) => (isCost ? S.amount(value) : S.percent(value).replace(/\u00a0/g, " "));
  const ends = [curve.low, curve.high, curve.values, ahead ? ahead.values : [], ahead ? ahead.low : [], ahead ? ahead.high : []].flat().filter((value) => value !== null);
  const [lowest, highest] = isCost ? [null, null] : [Math.max(0, Math.floor(Math.min(...ends) * 20) / 20), Math.min(1, Math.ceil(Math.max(...ends) * 20) / 20)];
  const tooltipText = (at) => `${S.count(at.value[0])} rows\n${written(at.value[1])}${at.seriesName === "ahead" ? "\nextrapolated" : ""}`;

  // 1, 2, 5, 10, 20, ... between the first and the last size.
  const sizes = [...curve.sizes, ...(ahead ? ahead.sizes : [])], first = Math.min(...sizes), last = Math.max(...sizes);
  const ticks = [];
  for (let ten = 10 ** Math.floor(Math.log10(first)); ten <= last; ten *= 10) ticks.push(...[1, 2, 5].map((step) => step * ten).filter((size) => size >= first && size <= last));

  // The law through what was measured and on to what was not.
  function fitted() {
    const { limit, height, rate } = curve.law, STEPS = 60;
    return Array.from({ length: STEPS + 1 }, (_, i) => first * (last / first) ** (i / STEPS)).map((x) => [x, limit - height * x ** -rate]);
  }

  S.chart("chart-curve", (c) => ({
    grid: { left: 60, right: 24, top: 20, bottom: 52 },
    tooltip: S.tooltip(c, tooltipText, { trigger: "item" }),
    xAxis: S.axis(c, "rows", { type: "log", min: first, max: last, axisTick: { customValues: ticks, lineStyle: { color: c.strong } }, splitLine: { show: false }, axisLabel: { customValues: ticks, hideOverlap: true, color: c.soft, fontSize: 11.5, formatter: (value) => S.count(value) } }),
    yAxis: S.axis(c, isCost ? `cost per row${S.report.data.unit ? `, ${S.report.data.unit}` : ""}` : `${name}, %`, { min: lowest, max: highest, scale: true, nameGap: 40, axisLabel: { color: c.soft, fontSize: 11.5, formatter: (value) => (isCost ? String(Number(value.toPrecision(3))) : String(Math.round(1000 * value) / 10)) } }),
    series: [
      ...S.band(curve.sizes, curve.low, curve.high, c.accent, "measured"),
      ...(ahead ? S.band(ahead.sizes, ahead.low, ahead.high, c.plain, "ahead-band") : []),
      { type: "line", data: curve.sizes.map((x, i) => [x, curve.values[i]]), symbol: "circle", symbolSize: 8, lineStyle: { color: c.accent, width: 2.5 }, itemStyle: { color: c.accent }, z: 3 },
      ...(ahead ? [
        { type: "line", data: fitted(), symbol: "none", silent: true, tooltip: { show: false }, lineStyle: { color: c.plain, width: 1.5, type: "dashed" }, z: 2 },
        { type: "scatter", name: "ahead", data: ahead.sizes.map((x, i) => [x, ahead.values[i]]), symbolSize: 7, itemStyle: { color: c.plain }, z: 3 },
      ] : []),
    ],
  }));
})();
