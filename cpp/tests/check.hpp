// The whole test framework: CHECK counts, report() prints the counts and gives the exit code.
#pragma once

#include <cmath>
#include <cstdio>

namespace checks {

inline int passed = 0;
inline int failed = 0;

inline void record(bool holds, const char* claim, const char* file, int line) {
  ++(holds ? passed : failed);
  if (!holds) std::printf("%s:%d: does not hold: %s\n", file, line, claim);
}

inline bool close(double value, double expected, double tolerance) {
  return std::abs(value - expected) <= tolerance;
}

inline int report() {
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace checks

#define CHECK(claim) checks::record(static_cast<bool>(claim), #claim, __FILE__, __LINE__)
