// sureleaf::grow for tests.
#pragma once

#include "small_table.hpp"
#include "sureleaf/grow.hpp"

namespace checks {

inline sureleaf::Tree grow(sureleaf::Presorted& sorted, const SmallTable& table,
                           const sureleaf::GrowthConfig& config, std::size_t n_threads,
                           const sureleaf::RowWeights& weights, bool use_up,
                           sureleaf::InterruptFlag& interrupt) {
  return sureleaf::grow(sorted, table.labels, table.n_classes, weights, config, n_threads, use_up,
                        interrupt);
}

inline sureleaf::Tree grow(const SmallTable& table, const sureleaf::GrowthConfig& config,
                           std::size_t n_threads = 1, const sureleaf::RowWeights& weights = {},
                           bool use_up = false) {
  sureleaf::InterruptFlag interrupt;
  sureleaf::Presorted sorted = sureleaf::presort(table.columns, n_threads, interrupt);
  return grow(sorted, table, config, n_threads, weights, use_up, interrupt);
}

inline sureleaf::GrowthConfig config_of(std::uint8_t criterion, bool subsets = false,
                                        double min_samples_leaf = 2) {
  sureleaf::GrowthConfig config;
  config.criterion = criterion;
  if (subsets) config.categorical_split = sureleaf::CategoricalSplit::subset;
  config.min_samples_leaf = min_samples_leaf;
  return config;
}

}  // namespace checks
