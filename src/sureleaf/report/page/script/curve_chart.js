// The learning curve, and how it may go on.
"use strict";

(() => {
  const S = window.Sureleaf;
  const { curve } = S.report.error;
  if (!curve) return;
  const { ahead } = curve;
  const percent = (value) => S.percent(value).replace(/\u00a0/g, " ");
  const ends = [curve.low, curve.high, curve.values, ahead ? ahead.values : [], ahead ? ahead.low : [], ahead ? ahead.high : []].flat().filter((value) => value !== null);
  const lowest = Math.max(0, Math.floor(Math.min(...ends) * 20) / 20), highest = Math.min(1, Math.ceil(Math.max(...ends) * 20) / 20);
  const told = (at) => `${S.count(at.value[0])} rows\n${percent(at.value[1])}${at.seriesName === "ahead" ? "\ncarried on" : ""}`;

  // The law through what was measured and on to what was not.
  function fitted() {
    const { limit, height, rate } = curve.law, first = curve.sizes[0], last = ahead.sizes.at(-1), STEPS = 60;
    return Array.from({ length: STEPS + 1 }, (_, i) => first * (last / first) ** (i / STEPS)).map((x) => [x, limit - height * x ** -rate]);
  }

  S.chart("chart-curve", (c) => ({
    grid: { left: 60, right: 24, top: 20, bottom: 52 },
    tooltip: S.tooltip(c, told, { trigger: "item" }),
    xAxis: S.axis(c, "rows to learn from (each step ten times more)", { type: "log", min: "dataMin", max: "dataMax", minorTick: { show: true, lineStyle: { color: c.strong } }, axisLabel: { color: c.soft, fontSize: 11.5, formatter: (value) => S.count(value) } }),
    yAxis: S.axis(c, `${curve.measure || "accuracy"}, %`, { min: lowest, max: highest, nameGap: 40, axisLabel: { color: c.soft, fontSize: 11.5, formatter: (value) => String(Math.round(1000 * value) / 10) } }),
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
