// The text of the last error of each thread, and the status of each type of exception.
#include "c/status.hpp"

#include <fairlead/factorization.hpp>
#include <fairlead/version.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <system_error>

#include "algorithms/linalg/singular_error.hpp"
#include "base/exception_text.hpp"
#include "config/memory_limit_error.hpp"

namespace fairlead::c {

namespace {

constexpr std::size_t error_text_bytes = 4096;
// A C program expects the text of an error per thread, as of errno. An array: a lack of memory needs a text, too.
thread_local char error_text[error_text_bytes] = "";

fairlead_status kind_of(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const UnsupportedError&) {
    return FAIRLEAD_ERROR_UNSUPPORTED;
  } catch (const CallbackError&) {
    return FAIRLEAD_ERROR_CALLBACK;
  } catch (const linalg::CancelledError&) {
    return FAIRLEAD_ERROR_CANCELLED;
  } catch (const CheckpointStop&) {
    return FAIRLEAD_ERROR_STOPPED;
  } catch (const UsageError&) {
    return FAIRLEAD_ERROR_USAGE;
  } catch (const config::MemoryLimitError&) {
    return FAIRLEAD_ERROR_MEMORY;
  } catch (const ConfigError&) {
    return FAIRLEAD_ERROR_CONFIG;
  } catch (const InputError&) {
    return FAIRLEAD_ERROR_INPUT;
  } catch (const linalg::SingularError&) {
    return FAIRLEAD_ERROR_SINGULAR;
  } catch (const NumericalError&) {
    return FAIRLEAD_ERROR_NUMERICAL;
  } catch (const FootprintError&) {
    return FAIRLEAD_ERROR_MEMORY;
  } catch (const std::bad_alloc&) {
    return FAIRLEAD_ERROR_MEMORY;
  } catch (const SystemError&) {
    return FAIRLEAD_ERROR_SYSTEM;
  } catch (const std::system_error&) {
    return FAIRLEAD_ERROR_SYSTEM;
  } catch (const TaskError& error) {
    try {
      std::rethrow_if_nested(error);
    } catch (...) {
      return kind_of(std::current_exception());  // why the task has failed
    }
    return FAIRLEAD_ERROR_TASK;
  } catch (...) {
    return FAIRLEAD_ERROR_OTHER;
  }
}

void store(const char* text) noexcept {
  const std::size_t bytes = std::min(std::strlen(text), error_text_bytes - 1);
  std::memcpy(error_text, text, bytes);
  error_text[bytes] = '\0';
}

}  // namespace

fairlead_status record_failure(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    store("out of memory: the system gives no more. Use a smaller memory limit");
  } catch (const std::exception& error) {
    store(exception_text(error));
  } catch (...) {
    store("an exception that is not a std::exception");
  }
  return kind_of(failure);
}

const char* recorded_text() noexcept { return error_text; }

}  // namespace fairlead::c

const char* fairlead_version(void) { return fairlead::version(); }

const char* fairlead_error_text(void) { return fairlead::c::recorded_text(); }
