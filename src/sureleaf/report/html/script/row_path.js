// The way of one row through the tree, and what is predicted there.
"use strict";

(() => {
  const S = window.Sureleaf;
  const { byNode, root, isLeaf } = S.treeParts;
  const UNSEEN = -2;

  // The branch a value takes; null for every branch with its share.
  function branchOf(node, value) {
    if (value === null) return null;
    if (node.branch_of_category) {
      const branch = value === UNSEEN ? -1 : node.branch_of_category[value];
      return branch === undefined ? -1 : branch;
    }
    return value === UNSEEN ? -1 : value <= node.threshold ? 0 : 1;
  }

  // values: by tested column, a number or a category's place, null for missing, UNSEEN for a new category.
  function follow(values) {
    const shares = new Map(), ends = [], { unseen } = S.report.tree;
    let refused = null;
    (function visit(node, share) {
      shares.set(node.id, share);
      if (isLeaf(node)) return ends.push({ id: node.id, share });
      const branch = branchOf(node, values[node.column]);
      if (branch !== null && branch >= 0) return visit(byNode.get(node.children[branch]), share);
      if (branch === -1 && unseen === "stop") return ends.push({ id: node.id, share });
      if (branch === -1 && unseen === "error") return (refused = node.column);
      node.children.forEach((id, place) => {
        if (node.shares[place] > 0) visit(byNode.get(id), share * node.shares[place]);
      });
    })(root, 1);
    if (refused !== null) return { refused };
    const probabilities = root.probabilities.map((_, place) =>
      ends.reduce((sum, end) => sum + end.share * byNode.get(end.id).probabilities[place], 0),
    );
    const prediction = probabilities.indexOf(Math.max(...probabilities));
    return { shares, ends, probabilities, prediction, refused: null };
  }

  Object.assign(S, { rowPath: follow, UNSEEN });
})();
