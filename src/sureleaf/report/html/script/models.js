"use strict";

// Size against accuracy or cost: the curve of sizes, and the models as dots with their names.
(() => {
  const S = window.Sureleaf;
  const { measure, sizes, marks } = S.report.simplicity;
  const isCost = measure === "cost";
  const value = (x) => (isCost ? S.amount(x) : S.percent(x).replace(/\u00a0/g, " "));
  const ends = (one) => (one.low === null ? "" : `\n${isCost ? `${S.amount(one.low)} to ${S.amount(one.high)}` : `${S.points(one.low)} to ${S.points(one.high)} %`}`);

  const largest = Math.max(2, ...sizes.map((one) => one.leaves), ...marks.map((one) => one.leaves || 1));
  const seen = [...sizes, ...marks].filter((one) => one.leaves === null || one.leaves > 1 || one.name === undefined);
  const heights = seen.flatMap((one) => [one.low ?? one.value, one.high ?? one.value, one.value]);
  // About six steps of 1, 2 or 5 times a power of ten.
  const span = Math.max(1e-9, Math.max(...heights) - Math.min(...heights)), ten = 10 ** Math.floor(Math.log10(span / 6));
  const step = [1, 2, 5, 10].map((one) => one * ten).find((one) => span / one <= 7);
  const lowest = Math.floor(Math.min(...heights) / step) * step, highest = Math.ceil(Math.max(...heights) / step) * step;
  const leaves = (n) => `${S.count(n)} ${n === 1 ? "leaf" : "leaves"}`;
  const ticks = [];
  for (let ten = 1; ten <= largest; ten *= 10) ticks.push(...[1, 2, 5].map((one) => one * ten).filter((size) => size <= largest));

  const own = marks[0], isThis = (one) => one === own;
  const isHidden = (one) => !isThis(one) && one.leaves === own.leaves && one.value === own.value; // under this tree's dot
  const trees = marks.filter((one) => one.leaves !== null && one.value >= lowest && one.value <= highest && !isHidden(one));
  const others = marks.filter((one) => one.leaves === null);
  const tooltipText = (at) => (at.data.tooltipText ? at.data.tooltipText : `${leaves(at.value[0])} at most\n${value(at.value[1])}`);

  // Where each name is beside its dot: the first place in which it covers no other name or dot, or none.
  const grid = { left: 64, right: 28, top: 26, bottom: 52 };
  const box = S.byId("chart-sizes"), pen = document.createElement("canvas").getContext("2d");
  const otherName = (one) => `${one.name} ${value(one.value)}`;
  const y = (v) => grid.top + ((box.clientHeight - grid.top - grid.bottom) * (highest - v)) / (highest - lowest);
  // How far the names of models that are lines stand from them: those of close lines below one another, away from the curve.
  function asides() {
    const found = new Map(), groups = [];
    for (const one of [...others].sort((a, b) => b.value - a.value)) {
      const group = groups.at(-1);
      if (group && y(one.value) - y(group.at(-1).value) < 16 * (group.length + 1)) group.push(one);
      else groups.push([one]);
    }
    for (const group of groups) {
      const top = y(group[0].value) + 5 - 14 * group.length, bottom = y(group.at(-1).value) + 9;
      const isBelow = group[0].value < sizes.at(-1).value && bottom + 14 * group.length < box.clientHeight - grid.bottom;
      const start = isBelow || top < 8 ? bottom : top;
      group.forEach((one, index) => found.set(one, start + 14 * index - y(one.value)));
    }
    return found;
  }
  function places() {
    const aside = asides(), width = box.clientWidth - grid.left - grid.right;
    const x = (n) => grid.left + (width * Math.log(n)) / Math.log(largest);
    const area = (left, middle, wide, tall) => ({ left, right: left + wide, top: middle - tall / 2, bottom: middle + tall / 2 });
    const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    const wide = (text, weight) => { pen.font = `${weight} 12px ${getComputedStyle(document.body).fontFamily}`; return pen.measureText(text).width + 4; };
    const names = others.map((one) => area(grid.left + width - wide(otherName(one), 400), y(one.value) + aside.get(one), wide(otherName(one), 400), 14));
    return trees.map((one) => {
      const [at, up, long, radius] = [x(one.leaves), y(one.value), wide(one.name, isThis(one) ? 700 : 400), isThis(one) ? 9 : 5];
      const areas = {
        left: area(at - radius - 8 - long, up, long, 14), right: area(at + radius + 8, up, long, 14),
        top: area(at - long / 2, up - radius - 15, long, 14), bottom: area(at - long / 2, up + radius + 15, long, 14),
      };
      const preferred = isThis(one) ? ["bottom", "top", "right", "left"] : ["top", "bottom", "right", "left"];
      const dots = trees.filter((other) => other !== one).map((other) => area(x(other.leaves) - 6, y(other.value), 12, 12));
      const place = preferred.find((side) => areas[side].left >= grid.left && areas[side].right <= box.clientWidth && ![...names, ...dots].some((taken) => overlap(areas[side], taken)));
      if (place) names.push(areas[place]);
      return place;
    });
  }

  S.chart("chart-sizes", (c) => ({
    grid,
    tooltip: S.tooltip(c, tooltipText, { trigger: "item" }),
    xAxis: S.axis(c, "leaves", { type: "log", min: 1, max: largest, axisTick: { customValues: ticks, lineStyle: { color: c.strong } }, splitLine: { show: false }, axisLabel: { customValues: ticks, hideOverlap: true, color: c.soft, fontSize: 11.5, formatter: (x) => S.count(x) } }),
    yAxis: S.axis(c, isCost ? `cost per row${S.report.data.unit ? `, ${S.report.data.unit}` : ""}` : `${measure === "auc" ? "AUC" : measure}, %`, { min: lowest, max: highest, interval: step, nameGap: 42, axisLabel: { color: c.soft, fontSize: 11.5, formatter: (x) => (isCost ? String(Number(x.toPrecision(3))) : String(Math.round(1000 * x) / 10)) } }),
    series: [
      ...S.band(sizes.map((one) => one.leaves), sizes.map((one) => one.low), sizes.map((one) => one.high), c.accent, "sizes"),
      { type: "line", data: sizes.map((one) => ({ value: [one.leaves, one.value], tooltipText: `at most ${leaves(one.leaves)}\n${value(one.value)}${ends(one)}` })), symbol: "circle", symbolSize: 6, lineStyle: { color: c.accent, width: 2 }, itemStyle: { color: c.accent }, z: 3 },
      ...((aside) => others.map((one) => ({
        type: "line", silent: true, symbol: "none", data: [[1, one.value], [largest, one.value]], lineStyle: { color: c.plain, width: 1.5, type: "dashed" }, z: 2,
        endLabel: { show: false }, markPoint: { silent: true, symbol: "circle", symbolSize: 0.1, data: [{ coord: [largest, one.value] }], label: { show: true, formatter: otherName(one), position: "left", offset: [0, aside.get(one)], color: c.soft, fontSize: 12, textBorderColor: c.paper, textBorderWidth: 3 } },
      })))(asides()),
      {
        type: "scatter", z: 5,
        data: ((sides) => trees.map((one, index) => ({
          value: [one.leaves, one.value], tooltipText: `${one.name}, ${leaves(one.leaves)}\n${value(one.value)}${ends(one)}`,
          symbolSize: isThis(one) ? 17 : 10,
          itemStyle: { color: isThis(one) ? c.warn : c.ink, borderColor: c.paper, borderWidth: 2 },
          label: { show: sides[index] !== undefined, formatter: one.name, position: sides[index], distance: 8, color: c.ink, fontSize: 12, fontWeight: isThis(one) ? 700 : 400, textBorderColor: c.paper, textBorderWidth: 3 },
        })))(places()),
      },
    ],
  }));
})();
