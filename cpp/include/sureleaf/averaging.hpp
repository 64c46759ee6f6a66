// The mean over all prunings of a tree, each weighed by how well it explains the rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sureleaf/tree.hpp"

namespace sureleaf {

// What each node knows by itself: the logarithms of how well it explains its rows as a leaf, and of
// the prior probabilities that a tree which reaches it ends there or goes on.
struct PruningEvidence {
  std::span<const double> as_leaf, ends, goes_on;
};

// Probabilities of every node: a mean of (count + added) / sum over its way to the root, weighed by
// the posterior probability that the tree ends there. In preorder a child comes after its parent,
// so that one pass backwards and one forwards do.
inline std::vector<double> average_prunings(const Tree& tree, std::span<const double> counts,
                                            const PruningEvidence& evidence, double added) {
  const std::size_t n = tree.size(), n_classes = tree.n_classes;
  std::vector<double> explained(evidence.as_leaf.begin(), evidence.as_leaf.end()), ends(n, 1.0);
  for (std::size_t node = n; node-- > 0;) {
    if (tree.is_leaf(node)) continue;
    double below = 0;
    for (const std::int32_t child : tree.branches(node))
      below += explained[static_cast<std::size_t>(child)];
    const double here = evidence.ends[node] + evidence.as_leaf[node];
    const double as_split = evidence.goes_on[node] + below;
    const double larger = std::max(here, as_split);
    explained[node] = larger + std::log1p(std::exp(std::min(here, as_split) - larger));
    ends[node] = std::exp(here - explained[node]);
  }
  // Going down: `found` has what the prunings that end above a node say, `left` the others.
  std::vector<double> found(n * n_classes, 0.0), left(n, 1.0), own(n_classes);
  for (std::size_t node = 0; node < n; ++node) {
    double* said = found.data() + node * n_classes;
    double total = 0;
    for (std::size_t k = 0; k < n_classes; ++k)
      total += own[k] = counts[node * n_classes + k] + added;
    const double here = left[node] * ends[node];
    for (double& share : own) share /= total;
    if (!tree.is_leaf(node))
      for (const std::int32_t child : tree.branches(node)) {
        const auto c = static_cast<std::size_t>(child);
        left[c] = left[node] - here;
        for (std::size_t k = 0; k < n_classes; ++k)
          found[c * n_classes + k] = said[k] + here * own[k];
      }
    double sum = 0;
    for (std::size_t k = 0; k < n_classes; ++k) sum += said[k] += left[node] * own[k];
    for (std::size_t k = 0; k < n_classes; ++k) said[k] /= sum;
  }
  return found;
}

}  // namespace sureleaf
