// The whole test framework: CHECK counts, and TESTS registers the tests of a file for main.cpp.
#pragma once

#include <cmath>
#include <cstdio>
#include <map>
#include <string>

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

using Tests = void (*)();

// The tests of every file, by its name. A function, because files register before main starts.
inline std::map<std::string, Tests>& registry() {
  static std::map<std::string, Tests> tests;
  return tests;
}

}  // namespace checks

#define CHECK(claim) checks::record(static_cast<bool>(claim), #claim, __FILE__, __LINE__)

#define TESTS(file)                                         \
  static void file();                                       \
  [[maybe_unused]] static const bool file##_is_registered = \
      checks::registry().emplace(#file, file).second;       \
  static void file()
