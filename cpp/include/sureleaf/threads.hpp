// Independent jobs on a few threads, which stop early when the caller is interrupted.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace sureleaf {

struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

// Asks the caller now and then whether to go on. Only the calling thread asks (it may have to take
// a lock that belongs to it); the others see its answer.
class Patience {
 public:
  explicit Patience(std::function<bool()> interrupted = {})
      : interrupted_(std::move(interrupted)), caller_(std::this_thread::get_id()) {}

  // Throws Interrupted if the work should stop; cheap enough for every node and column.
  void check() {
    if (stop_.load(std::memory_order_relaxed)) throw Interrupted();
    if (!interrupted_ || std::this_thread::get_id() != caller_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < std::chrono::milliseconds(50)) return;
    asked_ = now;
    if (interrupted_()) {
      stop();
      throw Interrupted();
    }
  }
  void stop() { stop_.store(true, std::memory_order_relaxed); }

 private:
  std::function<bool()> interrupted_;
  std::thread::id caller_;
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
  std::atomic<bool> stop_{false};
};

// Runs job(i, thread) for i = 0 .. n_jobs - 1; jobs start in that order. The calling thread works
// too. The first exception is thrown again here after all threads have stopped.
template <class Job>
void run_jobs(std::size_t n_jobs, std::size_t n_threads, Patience& patience, Job&& job) {
  n_threads = std::max<std::size_t>(1, std::min(n_threads, n_jobs));
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  auto work = [&](std::size_t thread) {
    try {
      for (;;) {
        patience.check();
        const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
        if (i >= n_jobs) return;
        job(i, thread);
      }
    } catch (...) {
      // Kept before the others are told to stop: their Interrupted must not take its place.
      const std::lock_guard<std::mutex> lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      patience.stop();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(n_threads - 1);
  try {
    for (std::size_t t = 1; t < n_threads; ++t) threads.emplace_back(work, t);
  } catch (const std::system_error&) {
    // The machine has no thread left to give: those there are do the work.
  }
  work(0);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sureleaf
