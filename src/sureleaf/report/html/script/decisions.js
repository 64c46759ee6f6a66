// What is decided at a cost: the rules of docs/report-json.md, which Python follows too.
"use strict";

(() => {
  const NOBODY = 1.0001;
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const slackOf = (cost) => 1e-12 * Math.max(1, ...cost.flat().map(Math.abs));

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

  const thresholds = (scores) => [...new Set([0, ...scores.score, NOBODY])].sort((a, b) => a - b);

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
    const places = cost.map((_, place) => place), slack = slackOf(cost);
    const confusion = cost.map((line) => line.map(() => 0));
    for (const { truth, weight, probabilities } of rows) {
      const expected = places.map((predicted) => probabilities.reduce((total, p, actual) => total + p * cost[actual][predicted], 0));
      const least = Math.min(...expected);
      confusion[truth][expected.findIndex((one) => one <= least + slack)] += weight;
    }
    return confusion;
  }

  window.Sureleaf.decisions = { NOBODY, costOf, atThreshold, theoretical, thresholds, costsByThreshold, bestThreshold, decideClasses };
})();
