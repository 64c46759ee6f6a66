// Python's lock, given back for a while or asked for again, by threads that may outlive Python; and
// its interrupts.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <chrono>
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

inline InterruptFlag flag_with_signals() {
  return InterruptFlag([] {
    Locked locked;
    return PyErr_CheckSignals() != 0;
  });
}

// Runs work without the GIL; an interrupt has already set Python's exception.
template <class Work>
auto run(Work&& work) {
  InterruptFlag interrupt = flag_with_signals();
  try {
    Unlocked unlocked;
    return work(interrupt);
  } catch (const Interrupted&) {
    throw nanobind::python_error();
  }
}

}  // namespace sureleaf
