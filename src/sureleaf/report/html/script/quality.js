"use strict";

// Decisions at given costs, by the rules of docs/report-json.md, which Python follows too.
(() => {
  const NEVER_POSITIVE = 1.0001;
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const slackOf = (cost) => 1e-12 * Math.max(...cost.flat().map(Math.abs));

  function costOf(confusion, cost) {
    const total = sum(confusion.flat());
    return total ? sum(confusion.flatMap((line, a) => line.map((rows, p) => rows * cost[a][p]))) / total : 0;
  }

  // Rows of at least the threshold's score count as positive.
  function atThreshold(scores, positive, threshold) {
    const counts = [[0, 0], [0, 0]], negative = 1 - positive;
    scores.score.forEach((score, i) => {
      const predicted = score >= threshold ? positive : negative;
      counts[negative][predicted] += scores.negative[i];
      counts[positive][predicted] += scores.positive[i];
    });
    return counts;
  }

  function theoretical(cost, positive) {
    const yes = positive, no = 1 - positive;
    const falseAlarm = cost[no][yes] - cost[no][no], miss = cost[yes][no] - cost[yes][yes];
    return falseAlarm + miss !== 0 ? falseAlarm / (falseAlarm + miss) : null;
  }

  const thresholds = (scores) => [...new Set([0, ...scores.score, NEVER_POSITIVE])].sort((a, b) => a - b);

  // One pass: rows below each threshold, added up.
  function costsByThreshold(scores, positive, cost) {
    const yes = positive, no = 1 - positive;
    const allNo = sum(scores.negative), allYes = sum(scores.positive), total = allNo + allYes;
    let belowNo = 0, belowYes = 0, next = 0;
    return thresholds(scores).map((threshold) => {
      while (next < scores.score.length && scores.score[next] < threshold) {
        belowNo += scores.negative[next];
        belowYes += scores.positive[next++];
      }
      const paid = belowNo * cost[no][no] + (allNo - belowNo) * cost[no][yes] + belowYes * cost[yes][no] + (allYes - belowYes) * cost[yes][yes];
      return { threshold, cost: paid / total };
    });
  }

  function bestThreshold(scores, positive, cost) {
    const tried = costsByThreshold(scores, positive, cost);
    const least = Math.min(...tried.map((one) => one.cost)), slack = slackOf(cost);
    const theory = theoretical(cost, positive), near = theory === null ? 0.5 : theory;
    const away = (one) => Math.round(Math.abs(one.threshold - near) * 1e12);
    return tried
      .filter((one) => one.cost <= least + slack)
      .reduce((best, one) => (away(one) < away(best) ? one : best));
  }

  // The class of least expected cost for every row; the first one on ties.
  function decideClasses(rows, cost) {
    const indexes = cost.map((_, index) => index), slack = slackOf(cost);
    const confusion = cost.map((line) => line.map(() => 0));
    for (const { truth, weight, probabilities } of rows) {
      const expected = indexes.map((predicted) => probabilities.reduce((total, p, actual) => total + p * cost[actual][predicted], 0));
      const least = Math.min(...expected);
      confusion[truth][expected.findIndex((one) => one <= least + slack)] += weight;
    }
    return confusion;
  }

  window.Sureleaf.decisions = { NEVER_POSITIVE, costOf, atThreshold, theoretical, thresholds, costsByThreshold, bestThreshold, decideClasses };
})();

// The costs and the threshold that the reader sets, and what follows from them.
(() => {
  const S = window.Sureleaf;
  const { element, byId, decisions } = S;
  const { quality } = S.report;
  const { scores, positive, labels } = quality;
  const binary = scores.kind === "binary";
  const inputs = [...byId("cost-table").querySelectorAll("input")];
  const cost = quality.cost.map((line) => [...line]);
  const slider = byId("threshold"), exact = byId("threshold-value");
  const offered = binary ? decisions.thresholds(scores) : [];
  const state = { cost, threshold: null, best: null, cheapest: false, listeners: [] };

  function showMatrix(confusion) {
    const table = byId("confusion-decided");
    [...table.tBodies[0].rows].forEach((line, actual) => {
      const total = confusion[actual].reduce((sum, rows) => sum + rows, 0);
      const shown = S.whole(confusion[actual]);
      confusion[actual].forEach((rows, predicted) => {
        const cell = line.cells[predicted + 1];
        cell.textContent = S.count(shown[predicted]);
        cell.dataset.value = rows;
        cell.style.setProperty("--share", total ? rows / total : 0);
      });
      line.cells[labels.length + 1].textContent = total ? S.percent(confusion[actual][actual] / total) : "–";
    });
  }

  function facts(confusion) {
    const total = confusion.flat().reduce((sum, rows) => sum + rows, 0);
    const right = confusion.reduce((sum, line, index) => sum + line[index], 0);
    const figures = [["Accuracy", S.percent(right / total)]];
    if (binary) {
      const yes = positive, no = 1 - positive;
      const share = (part, whole) => (whole ? S.percent(part / whole) : "–");
      figures.push([`“${labels[yes]}” found (recall)`, share(confusion[yes][yes], confusion[yes][0] + confusion[yes][1])]);
      figures.push([`“${labels[no]}” not predicted as “${labels[yes]}” (specificity)`, share(confusion[no][no], confusion[no][0] + confusion[no][1])]);
      figures.push([`correct when it predicts “${labels[yes]}” (precision)`, share(confusion[yes][yes], confusion[yes][yes] + confusion[no][yes])]);
    }
    byId("decision-facts").replaceChildren(
      ...figures.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
    );
  }

  function costLine(paid) {
    const line = byId("cost-line");
    const parts = ["Cost per row: ", element("strong", { id: "cost-now", "data-value": paid }, S.amount(paid))];
    if (binary) {
      const { best } = state, nobody = best.threshold > 1;
      const named = nobody ? `no row is predicted ${labels[positive]}` : S.number(best.threshold);
      parts.push(nobody ? "; lowest when " : "; lowest at the threshold ", element("strong", { id: "threshold-least", "data-value": best.threshold }, named), `, where it is ${S.amount(best.cost)}.`);
    } else parts.push(". These decisions are the cheapest if the probabilities are correct.");
    line.replaceChildren(...parts);
  }

  // In a tie, at exactly one half with two classes, this rule and that of the tree may differ.
  function tieNote(confusion) {
    const plain = quality.confusion, apart = (one, other) => one.some((line, a) => line.some((rows, p) => Math.abs(rows - other[a][p]) > 0.005));
    if (!apart(confusion, plain)) return null;
    if (!binary && !scores.sampled && String(cost) === String(quality.cost)) return "Of classes that tie, the first one counts here. The tree itself may predict another one, so this matrix differs from the one above.";
    if (!binary || state.threshold !== 0.5 || !scores.score.includes(0.5)) return null;
    const yes = labels[positive], no = labels[1 - positive];
    const above = decisions.atThreshold(scores, positive, 0.5 + 1e-9);
    const named = apart(above, plain) ? `${yes} for some of them and ${no} for others` : no;
    return `Rows with a probability of exactly 50\u00a0% count as ${yes} here. The tree itself predicts ${named}, so this matrix differs from the one above.`;
  }

  function notes(confusion) {
    const called = labels.filter((_, predicted) => confusion.some((line) => line[predicted] > 0));
    const texts = {
      moved: state.cheapest ? "The threshold is set to the cheapest one for these costs." : null,
      alike: called.length === 1 ? `Every row is predicted ${called[0]}.` : null,
      ties: tieNote(confusion),
    };
    byId("decision-notes").replaceChildren(
      ...Object.entries(texts).filter(([, text]) => text).map(([what, text]) => element("span", { "data-note": what }, text)),
    );
  }

  function update() {
    let confusion;
    if (binary) {
      state.best = decisions.bestThreshold(scores, positive, cost);
      confusion = decisions.atThreshold(scores, positive, state.threshold);
      const index = offered.findIndex((one) => one >= state.threshold);
      slider.value = index < 0 ? offered.length - 1 : index;
      slider.setAttribute("aria-valuetext", state.threshold > 1 ? `never ${labels[positive]}` : S.number(state.threshold));
      if (document.activeElement !== exact) showThreshold();
    } else confusion = decisions.decideClasses(scores.rows, cost);
    showMatrix(confusion);
    facts(confusion);
    costLine(decisions.costOf(confusion, cost));
    notes(confusion);
    state.confusion = confusion;
    for (const listener of state.listeners) listener();
  }

  function setThreshold(value, cheapest = false) {
    state.threshold = value;
    state.cheapest = cheapest;
    update();
  }
  const setBest = () => setThreshold(decisions.bestThreshold(scores, positive, cost).threshold, true);

  // Above 1 no row is predicted positive, and there is no number to show.
  function showThreshold() {
    exact.value = state.threshold > 1 ? "" : state.threshold;
    exact.placeholder = state.threshold > 1 ? "never" : "";
    markThreshold(false);
  }
  function markThreshold(bad) {
    exact.setAttribute("aria-invalid", String(bad));
    byId("threshold-problem").hidden = !bad;
  }
  function markCosts() {
    byId("cost-problem").hidden = !inputs.some((input) => input.getAttribute("aria-invalid") === "true");
  }

  for (const input of inputs) {
    input.addEventListener("input", () => {
      const value = Number(input.value), bad = input.value === "" || !Number.isFinite(value);
      input.setAttribute("aria-invalid", String(bad));
      markCosts();
      if (bad) return;
      cost[Number(input.dataset.actual)][Number(input.dataset.predicted)] = value;
      if (binary) setBest();
      else update();
    });
  }
  byId("cost-reset").addEventListener("click", () => {
    for (const input of inputs) {
      const given = quality.cost[Number(input.dataset.actual)][Number(input.dataset.predicted)];
      cost[Number(input.dataset.actual)][Number(input.dataset.predicted)] = given;
      input.value = given;
      input.setAttribute("aria-invalid", "false");
    }
    markCosts();
    if (binary) setBest();
    else update();
  });
  if (binary) {
    slider.max = offered.length - 1;
    slider.addEventListener("input", () => setThreshold(offered[Number(slider.value)]));
    exact.addEventListener("input", () => {
      const value = Number(exact.value), bad = exact.value === "" || !(value >= 0 && value <= 1);
      markThreshold(bad);
      if (!bad) setThreshold(value);
    });
    exact.addEventListener("blur", showThreshold);
    byId("threshold-best").addEventListener("click", setBest);
    setBest();
  } else update();

  S.costs = { state, setThreshold };
})();

// ROC, calibration and the cost by threshold.
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
    return calibration.stated.map((x, i) => ({ value: [x, calibration.observed[i], calibration.count[i]], symbolSize: 7 + 17 * Math.sqrt(calibration.count[i] / most), itemStyle: { color: c.accent, opacity: 0.85, borderColor: c.paper } }));
  }
  if (calibration) S.chart("chart-calibration", (c) => ({
    grid: { left: 56, right: 16, top: 16, bottom: 52 },
    tooltip: S.tooltip(c, (at) => `predicted ${percent(at.value[0])}\nobserved ${percent(at.value[1])}\n${S.count(at.value[2])} rows`, { trigger: "item" }),
    xAxis: S.shareAxis(c, "predicted probability, %"),
    yAxis: S.shareAxis(c, "observed share, %", { nameGap: 36 }),
    series: [
      ...S.band(calibration.stated, calibration.low, calibration.high, c.plain, "calibration"),
      { type: "line", data: [[0, 0], [1, 1]], symbol: "none", silent: true, lineStyle: { color: c.strong, type: "dashed", width: 1 } },
      { type: "scatter", data: sized(c), z: 3 },
    ],
  }));

  const benefit = quality.net_benefit;
  const named = (name, data, colour, type) => ({ type: "line", name, data, symbol: "none", lineStyle: { color: colour, width: type ? 1.5 : 2.5, type }, endLabel: { show: false }, itemStyle: { color: colour } });
  if (benefit) S.chart("chart-benefit", (c) => {
    const top = Math.max(...benefit.model, ...benefit.treat_all);
    const line = (values) => benefit.thresholds.map((x, i) => [x, values[i]]).filter((point) => point[1] >= -top / 4);
    return {
      grid: { left: 62, right: 16, top: 34, bottom: 52 }, legend: { top: 0, left: 56, textStyle: { color: c.soft }, itemWidth: 18 },
      tooltip: S.tooltip(c, (at) => [`threshold ${percent(at[0].value[0], 0)}`, ...at.map((one) => `${one.seriesName} ${S.number(one.value[1])}`)].join("\n"), { trigger: "axis" }),
      xAxis: S.shareAxis(c, "threshold probability, %"),
      yAxis: S.axis(c, "net benefit per row", { nameGap: 44, min: -top / 4, axisLabel: { color: c.soft, fontSize: 11.5, formatter: (value) => String(Number(value.toPrecision(2))), showMinLabel: false } }),
      series: [named("tree", line(benefit.model), c.accent), named("all", line(benefit.treat_all), c.plain, "dashed"), named("none", [[0, 0], [1, 0]], c.strong, "dotted")],
    };
  });

  // Costs hold from one score to the next: steps.
  const costChart = quality.scores.kind === "binary" && S.chart("chart-cost", (c) => {
    const tried = S.decisions.costsByThreshold(quality.scores, quality.positive, state.cost);
    const steps = tried.map((one) => [Math.min(one.threshold, 1), one.cost]);
    const shown = Math.min(state.threshold, 1);
    return {
      grid: { left: 64, right: 20, top: 20, bottom: 48 },
      tooltip: S.tooltip(c, (at) => `threshold ${S.number(at[0].value[0])}\ncost per row ${S.amount(at[0].value[1])}`, { trigger: "axis", axisPointer: { type: "line", lineStyle: { color: c.strong } } }),
      xAxis: S.axis(c, "threshold", { min: 0, max: 1 }),
      yAxis: S.axis(c, "cost per row", { nameGap: 46, scale: true }),
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
