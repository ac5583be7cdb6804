// What an exception says. A user's what() may return null, which no string survives.
#pragma once
#include <exception>
#include <string>

namespace fairlead {

inline const char* said_by(const std::exception& error) noexcept {
  const char* const text = error.what();
  return text != nullptr ? text : "(an exception whose what() is null)";
}

/// Not null; `otherwise`: where it is no std::exception.
inline std::string said_by(const std::exception_ptr& failure, const char* otherwise) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return said_by(error);
  } catch (...) {
    return otherwise;
  }
}

}  // namespace fairlead
