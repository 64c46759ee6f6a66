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
  const state = { cost, threshold: null, best: null, cheapest: false, listeners: [] };

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
      const { best } = state, nobody = best.threshold > 1;
      const named = nobody ? `nobody is called ${labels[positive]}` : S.number(best.threshold);
      parts.push(nobody ? "; least when " : "; least at the threshold ", element("strong", { id: "threshold-least", "data-value": best.threshold }, named), `, where it is ${S.number(best.cost)}.`);
    } else parts.push(". These decisions are the cheapest, as far as the probabilities are right.");
    line.replaceChildren(...parts);
  }

  // Half and half: the rule of the threshold and the tree's own need not agree.
  function tieNote(confusion) {
    if (!binary || state.threshold !== 0.5 || !scores.score.includes(0.5)) return null;
    const plain = quality.confusion, apart = (one, other) => one.some((line, a) => line.some((rows, p) => Math.abs(rows - other[a][p]) > 0.005));
    if (!apart(confusion, plain)) return null;
    const yes = labels[positive], no = labels[1 - positive];
    const above = decisions.atThreshold(scores, positive, 0.5 + 1e-9);
    const named = apart(above, plain) ? `${yes} for some of them and ${no} for others, as their leaves do` : no;
    return `Rows with a probability of exactly 50\u00a0% count as ${yes} here; the tree itself names ${named}: so this matrix differs from the one above.`;
  }

  function notes(confusion) {
    const called = labels.filter((_, predicted) => confusion.some((line) => line[predicted] > 0));
    const told = {
      moved: state.cheapest ? "Threshold set to the cheapest for these costs." : null,
      alike: called.length === 1 ? `This calls every row ${called[0]}.` : null,
      ties: tieNote(confusion),
    };
    byId("decision-notes").replaceChildren(
      ...Object.entries(told).filter(([, text]) => text).map(([what, text]) => element("span", { "data-note": what }, text)),
    );
  }

  function update() {
    let confusion;
    if (binary) {
      state.best = decisions.bestThreshold(scores, positive, cost);
      confusion = decisions.atThreshold(scores, positive, state.threshold);
      const place = offered.findIndex((one) => one >= state.threshold);
      slider.value = place < 0 ? offered.length - 1 : place;
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

  // Beyond 1 nobody is called positive: that is no number to show.
  function showThreshold() {
    exact.value = state.threshold > 1 ? "" : state.threshold;
    exact.placeholder = state.threshold > 1 ? "nobody" : "";
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
