// Python's lock, given back for a while or asked for again, by threads that may outlive Python; and
// its interrupts.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "sureleaf/thread_pool.hpp"

namespace sureleaf {

// A thread that asks for the lock while Python shuts down is ended by unwinding its stack, which
// C++ answers with std::terminate. It waits for the end of the process instead, as it does from
// Python 3.14 on.
template <class Ask>
auto ask_for_lock(Ask&& ask) {
  try {
    return ask();
  } catch (...) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() {
    ask_for_lock([this] { PyEval_RestoreThread(state_); });
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

class Locked {
 public:
  Locked() : state_(ask_for_lock([] { return PyGILState_Ensure(); })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

// Stops the calls of threads that work for another thread. Only the main thread of Python sees
// Ctrl-C; the threads that it waits for watch such a flag.
class StopFlag {
 public:
  void stop() { stopped_->store(true); }
  void watch() const { watched() = stopped_; }

  using Shared = std::shared_ptr<std::atomic<bool>>;
  // What the calls of this thread watch.
  static Shared& watched() {
    static thread_local Shared flag;
    return flag;
  }

 private:
  Shared stopped_ = std::make_shared<std::atomic<bool>>(false);
};

inline InterruptFlag flag_with_signals() {
  return InterruptFlag([flag = StopFlag::watched()] {
    Locked locked;
    if (flag && flag->load()) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
      return true;
    }
    return PyErr_CheckSignals() != 0;
  });
}

// Runs work without the GIL; an interrupt has already set Python's exception.
template <class Work>
auto run(Work&& work) {
  prepare_exceptions();
  InterruptFlag interrupt = flag_with_signals();
  try {
    Unlocked unlocked;
    return work(interrupt);
  } catch (const Interrupted&) {
    throw nanobind::python_error();
  }
}

}  // namespace sureleaf
