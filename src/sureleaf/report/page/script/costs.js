// The costs and the threshold that the reader sets, and what follows from them.
"use strict";

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
  const state = { cost, threshold: null, best: null, listeners: [] };

  function showMatrix(confusion) {
    const table = byId("confusion-decided");
    [...table.tBodies[0].rows].forEach((line, actual) => {
      const total = confusion[actual].reduce((sum, rows) => sum + rows, 0);
      confusion[actual].forEach((rows, predicted) => {
        const cell = line.cells[predicted + 1];
        cell.textContent = S.count(rows);
        cell.dataset.value = rows;
        cell.style.setProperty("--share", total ? rows / total : 0);
      });
      line.cells[labels.length + 1].textContent = total ? S.percent(confusion[actual][actual] / total) : "–";
    });
  }

  function facts(confusion) {
    const total = confusion.flat().reduce((sum, rows) => sum + rows, 0);
    const right = confusion.reduce((sum, line, place) => sum + line[place], 0);
    const told = [["Accuracy", S.percent(right / total)]];
    if (binary) {
      const yes = positive, no = 1 - positive;
      const share = (part, whole) => (whole ? S.percent(part / whole) : "–");
      told.push([`${labels[yes]} found (recall)`, share(confusion[yes][yes], confusion[yes][0] + confusion[yes][1])]);
      told.push([`${labels[no]} left alone (specificity)`, share(confusion[no][no], confusion[no][0] + confusion[no][1])]);
      told.push([`right when it says ${labels[yes]} (precision)`, share(confusion[yes][yes], confusion[yes][yes] + confusion[no][yes])]);
    }
    byId("decision-facts").replaceChildren(
      ...told.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
    );
  }

  function costLine(paid) {
    const line = byId("cost-line");
    const parts = ["Cost a row: ", element("strong", { id: "cost-now", "data-value": paid }, S.number(paid))];
    if (binary) {
      const { best } = state;
      const named = best.threshold > 1 ? "never" : S.number(best.threshold);
      parts.push("; least at the threshold ", element("strong", { id: "threshold-least", "data-value": best.threshold }, named), `, where it is ${S.number(best.cost)}.`);
    } else parts.push(". These decisions are the cheapest, as far as the probabilities are right.");
    line.replaceChildren(...parts);
  }

  function update() {
    let confusion;
    if (binary) {
      state.best = decisions.bestThreshold(scores, positive, cost);
      confusion = decisions.atThreshold(scores, positive, state.threshold);
      const place = offered.findIndex((one) => one >= state.threshold);
      slider.value = place < 0 ? offered.length - 1 : place;
      slider.setAttribute("aria-valuetext", state.threshold > 1 ? `never ${labels[positive]}` : S.number(state.threshold));
      if (document.activeElement !== exact) exact.value = state.threshold;
    } else confusion = decisions.decideClasses(scores.rows, cost);
    showMatrix(confusion);
    facts(confusion);
    costLine(decisions.costOf(confusion, cost));
    state.confusion = confusion;
    for (const listener of state.listeners) listener();
  }

  function setThreshold(value) {
    state.threshold = Math.min(decisions.NOBODY, Math.max(0, value));
    update();
  }
  const setBest = () => setThreshold(decisions.bestThreshold(scores, positive, cost).threshold);

  for (const input of inputs) {
    input.addEventListener("input", () => {
      const value = Number(input.value), bad = input.value === "" || !Number.isFinite(value);
      input.setAttribute("aria-invalid", String(bad));
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
    if (binary) setBest();
    else update();
  });
  if (binary) {
    slider.max = offered.length - 1;
    slider.addEventListener("input", () => setThreshold(offered[Number(slider.value)]));
    exact.addEventListener("input", () => {
      const value = Number(exact.value);
      if (exact.value !== "" && Number.isFinite(value)) setThreshold(value);
    });
    exact.addEventListener("blur", () => (exact.value = state.threshold));
    byId("threshold-best").addEventListener("click", setBest);
    setBest();
  } else update();

  S.costs = { state, setThreshold };
})();
