#include "sureleaf/thread_pool.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using sureleaf::InterruptFlag;
using sureleaf::ThreadPool;

void every_job_of_every_step_is_done_once() {
  for (const std::size_t n_threads : {1, 2, 7}) {
    ThreadPool pool(n_threads);
    InterruptFlag interrupt;
    CHECK(pool.size() == n_threads);
    for (const std::size_t n_jobs : {0, 1, 2, 5, 300}) {
      for (int step = 0; step < 100; ++step) {
        std::vector<int> done(n_jobs, 0);
        std::atomic<bool> has_own_number = true;
        pool.run(n_jobs, interrupt, [&](std::size_t i, std::size_t thread) {
          ++done[i];
          if (thread >= n_threads) has_own_number = false;
        });
        CHECK(done == std::vector<int>(n_jobs, 1));
        CHECK(has_own_number);
      }
    }
  }
}

void a_crew_that_was_not_needed_ends() {
  for (int round = 0; round < 20; ++round) {
    const ThreadPool idle(3);
    CHECK(idle.size() == 3);
  }
  CHECK(ThreadPool(0).size() == 1);
}

void the_first_failure_is_the_one_that_is_told() {
  for (int round = 0; round < 50; ++round) {
    InterruptFlag interrupt;
    std::string message;
    try {
      sureleaf::run_jobs(64, 4, interrupt, [](std::size_t i, std::size_t) {
        if (i == 5) throw std::runtime_error("job 5");
      });
    } catch (const std::exception& error) {
      message = error.what();
    }
    CHECK(message == "job 5");
  }
}

}  // namespace

TESTS(thread_pool_test) {
  every_job_of_every_step_is_done_once();
  a_crew_that_was_not_needed_ends();
  the_first_failure_is_the_one_that_is_told();
}
