// sureleaf::grow for tests, compiled once in growing.cpp: its templates take long to compile.
#pragma once

#include "small_table.hpp"
#include "sureleaf/growth.hpp"
#include "sureleaf/tree.hpp"

namespace checks {

sureleaf::Tree grow(sureleaf::Presorted& sorted, const SmallTable& table,
                    const sureleaf::GrowthConfig& config, std::size_t n_threads,
                    const sureleaf::RowWeights& weights, bool use_up,
                    sureleaf::InterruptFlag& interrupt);

sureleaf::Tree grow(const SmallTable& table, const sureleaf::GrowthConfig& config,
                    std::size_t n_threads = 1, const sureleaf::RowWeights& weights = {},
                    bool use_up = false);

inline sureleaf::GrowthConfig config_of(std::uint8_t criterion, bool subsets = false,
                                        double min_samples_leaf = 2) {
  sureleaf::GrowthConfig config;
  config.criterion = criterion;
  if (subsets) config.categorical_split = sureleaf::CategoricalSplit::subset;
  config.min_samples_leaf = min_samples_leaf;
  return config;
}

}  // namespace checks
