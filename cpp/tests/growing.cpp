#include "growing.hpp"

#include "sureleaf/grow.hpp"

sureleaf::Tree checks::grow(sureleaf::Presorted& sorted, const SmallTable& table,
                            const sureleaf::GrowthConfig& config, std::size_t n_threads,
                            const sureleaf::RowWeights& weights, bool use_up,
                            sureleaf::InterruptFlag& interrupt) {
  return sureleaf::grow(sorted, table.labels, table.n_classes, weights, config, n_threads, use_up,
                        interrupt);
}

sureleaf::Tree checks::grow(const SmallTable& table, const sureleaf::GrowthConfig& config,
                            std::size_t n_threads, const sureleaf::RowWeights& weights,
                            bool use_up) {
  sureleaf::InterruptFlag interrupt;
  sureleaf::Presorted sorted = sureleaf::presort(table.columns, n_threads, interrupt);
  return grow(sorted, table, config, n_threads, weights, use_up, interrupt);
}
