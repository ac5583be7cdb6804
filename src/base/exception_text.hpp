// The text of an exception. A user's what() may return null, from which no string can be made.
#pragma once
#include <exception>
#include <string>

namespace fairlead {

inline const char* exception_text(const std::exception& error) noexcept {
  const char* const text = error.what();
  return text != nullptr ? text : "(an exception whose what() is null)";
}

/// Never null. `otherwise`: the text for an exception that is not a std::exception.
inline std::string exception_text(const std::exception_ptr& failure, const char* otherwise) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return exception_text(error);
  } catch (...) {
    return otherwise;
  }
}

}  // namespace fairlead
