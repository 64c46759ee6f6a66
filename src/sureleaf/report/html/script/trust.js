// Why a leaf is not to be trusted, and what the words for its numbers mean.
"use strict";

(() => {
  const S = window.Sureleaf;
  const { wanted, terms } = S.report.tree;

  // As why_flagged of wording.py.
  function whyFlagged(leaf) {
    if (leaf.n <= 0) return "no rows to judge it by";
    const asked = (share) => `${Number((100 * share).toPrecision(6))}\u00a0%`;
    const reasons = ["confidence", "utility"]
      .filter((name) => wanted[name] !== null && leaf[name] !== null && leaf[name] < wanted[name])
      .map((name) => `${name} ${S.percent(leaf[name])} is below the ${asked(wanted[name])} asked for`);
    return reasons.join(" and ") || "right less often than a coin";
  }

  const meanings = {
    counts: "rows that grew the leaf",
    stated: "what the tree predicts for a row there",
    probability: "share of the class named, from rows the trees had not seen",
    confidence: "that the class named is truly the most frequent",
    utility: "that the next row is predicted right",
    ...terms,
  };

  const upperFirst = (text) => text[0].toUpperCase() + text.slice(1);

  Object.assign(S, { upperFirst, whyFlagged, meanings });
})();
