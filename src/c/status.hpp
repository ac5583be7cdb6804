// From exceptions to the statuses and error texts of the C interface.
#pragma once
#include <cxxabi.h>
#include <fairlead.h>
#include <fairlead/error.hpp>

#include <exception>
#include <string>

namespace fairlead::c {

/// A request that this version cannot serve.
class UnsupportedError : public Error {
 public:
  using Error::Error;
};

/// A function of the program failed.
class CallbackError : public Error {
 public:
  using Error::Error;
};

/// Stores the error's text for this thread, and returns its status.
fairlead_status record_failure(const std::exception_ptr& failure) noexcept;
/// Of the last failure on this thread.
const char* recorded_text() noexcept;

/// Runs body() and returns the status.
template <class Body>
fairlead_status status_of(const Body& body) {
  try {
    body();
    return FAIRLEAD_OK;
  } catch (abi::__forced_unwind&) {  // pthread_exit() in a function of the program
    throw;
  } catch (...) {
    return record_failure(std::current_exception());
  }
}

/// Returns the pointer. Throws UsageError if it is null. `what`: "solver".
template <class T>
T* required(T* pointer, const char* what) {
  if (pointer == nullptr) throw UsageError(std::string(what) + " is a null pointer");
  return pointer;
}

}  // namespace fairlead::c
