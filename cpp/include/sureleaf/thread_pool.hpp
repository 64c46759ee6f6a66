// A thread pool for independent jobs, and a flag that stops them when the caller is interrupted.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace sureleaf {

struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

// Asks the caller now and then whether to stop. Only the calling thread asks (it may have to take a
// lock that belongs to it); the other threads see its answer.
class InterruptFlag {
 public:
  explicit InterruptFlag(std::function<bool()> interrupted = {})
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

// Allocates the thread-local storage in which the C++ runtime keeps exceptions. glibc would do so
// when a thread first throws, and end the process if it cannot: then a thread without memory could
// not even say so.
inline void prepare_exceptions() {
  [[maybe_unused]] const volatile int n_exceptions = std::uncaught_exceptions();
}

// Memory that is set aside for a new thread, so that it can prepare for exceptions.
class ExceptionReserve {
 public:
#ifdef __linux__
  ExceptionReserve() : memory_(mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::system_error(ENOMEM, std::generic_category());
  }
  ExceptionReserve(ExceptionReserve&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)) {}
  ~ExceptionReserve() { give_back(); }
#endif
  void use() {
    give_back();
    prepare_exceptions();
  }

 private:
#ifdef __linux__
  static constexpr std::size_t size = std::size_t{1} << 18;
  void give_back() {
    if (memory_ != nullptr) munmap(std::exchange(memory_, nullptr), size);
  }
  void* memory_;
#else
  void give_back() {}
#endif
};

// Threads that live for a whole growth and share the jobs of each of its steps. They are started
// when first needed. Between two steps they spin for a while: the steps of a node take
// microseconds, less than it takes to start or wake a thread.
class ThreadPool {
 public:
  explicit ThreadPool(std::size_t n_threads) : size_(std::max<std::size_t>(1, n_threads)) {}
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() {
    if (threads_.empty()) return;
    task_ = {};
    open_step();
    for (std::thread& thread : threads_) thread.join();
  }

  std::size_t size() const { return size_; }

  // Runs job(i, thread) for i = 0 .. n_jobs - 1; jobs start in that order. The calling thread works
  // too, and does not wait for threads that have not joined. The first exception is thrown again
  // here after all threads have stopped.
  template <class Job>
  void run(std::size_t n_jobs, InterruptFlag& interrupt, Job&& job) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    auto work = [&](std::size_t thread) {
      try {
        for (;;) {
          interrupt.check();
          const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
          if (i >= n_jobs) return;
          job(i, thread);
        }
      } catch (...) {
        // Stored before the others are stopped: their Interrupted must not replace it.
        const std::lock_guard<std::mutex> lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        interrupt.stop();
      }
    };
    if (size_ == 1 || n_jobs <= 1) {
      work(0);
    } else {
      start_threads();
      task_ = {&work, [](void* w, std::size_t t) { (*static_cast<decltype(work)*>(w))(t); }};
      open_step();
      work(0);
      close_step();
    }
    if (failure) std::rethrow_exception(failure);
  }

 private:
  // The number of the step, whether threads may still join it, and how many work on it.
  using State = std::uint64_t;
  static constexpr State is_open = State{1} << 16, new_step = is_open << 1;
  static constexpr State n_working = is_open - 1;
  static constexpr int n_spins = 20'000;

  struct Task {
    void* work = nullptr;
    void (*call)(void*, std::size_t) = nullptr;  // nullptr: stop the thread
  };

  void start_threads() {
    if (!threads_.empty()) return;
    threads_.reserve(size_ - 1);
    try {
      for (std::size_t t = 1; t < std::min<std::size_t>(size_, n_working); ++t)
        threads_.emplace_back([this, t, reserve = ExceptionReserve()]() mutable {
          reserve.use();
          follow(t);
        });
    } catch (const std::system_error&) {
      // The system has no more threads or memory: those that exist do the work.
    }
  }
  void open_step() {
    state_.fetch_add(new_step | is_open, std::memory_order_release);
    state_.notify_all();
  }
  void close_step() {
    for (State now = state_.fetch_and(~is_open) & ~is_open; now & n_working;
         now = state_.load(std::memory_order_acquire))
      wait_for_change(now);
  }
  void follow(std::size_t thread) {
    for (State last_step = 0;;) {
      State now = state_.load(std::memory_order_acquire);
      const State step = now / new_step;
      if (step == last_step || !(now & is_open)) {
        wait_for_change(now);
      } else if (state_.compare_exchange_strong(now, now + 1)) {
        if (task_.call == nullptr) return;
        task_.call(task_.work, thread);
        last_step = step;
        if ((state_.fetch_sub(1) & n_working) == 1) state_.notify_all();
      }
    }
  }
  void wait_for_change(State old) const {
    for (int spin = 0; spin < n_spins; ++spin) {
      if (state_.load(std::memory_order_acquire) != old) return;
      if (spin % 64 == 63) std::this_thread::yield();
    }
    state_.wait(old, std::memory_order_acquire);
  }

  std::size_t size_;
  std::vector<std::thread> threads_;
  std::atomic<State> state_{0};
  Task task_;
};

// One step of jobs on threads of its own.
template <class Job>
void run_jobs(std::size_t n_jobs, std::size_t n_threads, InterruptFlag& interrupt, Job&& job) {
  ThreadPool(std::min(n_threads, n_jobs)).run(n_jobs, interrupt, job);
}

}  // namespace sureleaf
