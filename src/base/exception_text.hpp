// What an exception says. A user's what() may return null, which no string survives.
#pragma once
#include <exception>

namespace fairlead {

inline const char* said_by(const std::exception& error) noexcept {
  const char* const text = error.what();
  return text != nullptr ? text : "(an exception whose what() is null)";
}

}  // namespace fairlead
