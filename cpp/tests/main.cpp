// Runs the tests of every file, or of the files that the arguments name.
#include <vector>

#include "check.hpp"

namespace {

// Whether all hold. Prints how many do.
bool run(const std::string& file) {
  const auto tests = checks::registry().find(file);
  if (tests == checks::registry().end()) {
    std::printf("%s: no test file has this name\n", file.c_str());
    return false;
  }
  checks::passed = checks::failed = 0;
  tests->second();
  std::printf("%s: %d passed, %d failed\n", file.c_str(), checks::passed, checks::failed);
  return checks::failed == 0;
}

}  // namespace

int main(int n_arguments, char** arguments) {
  std::vector<std::string> files(arguments + 1, arguments + n_arguments);
  if (files.empty())
    for (const auto& [file, tests] : checks::registry()) files.push_back(file);
  bool all_hold = true;
  for (const std::string& file : files) all_hold = run(file) && all_hold;
  return all_hold ? 0 : 1;
}
