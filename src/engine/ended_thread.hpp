// The error of a task whose body ended its thread.
#pragma once
#include <fairlead/error.hpp>

#include <exception>

namespace fairlead::engine {

inline std::exception_ptr ended_thread() {
  return std::make_exception_ptr(
      UsageError("its body ended the thread that ran it, by pthread_exit, or because that was cancelled"));
}

}  // namespace fairlead::engine
