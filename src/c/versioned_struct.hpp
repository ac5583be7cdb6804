// Structs of the C interface whose first member is their size. A program that was compiled with an older header has fewer
// members, and one with a newer header more.
#pragma once
#include <fairlead/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "c/status.hpp"

namespace fairlead::c {

/// The members that both sides have, over those of `defaults`. Throws UsageError if the size is none, UnsupportedError if
/// a member is set that this version does not have. `what`: "options".
template <class Struct>
Struct read_versioned(const Struct& given, const Struct& defaults, const char* what) {
  const std::size_t bytes = given.struct_bytes;
  if (bytes < sizeof(std::size_t))
    throw UsageError(
        std::string("struct_bytes of the ") + what +
        " is not set: it is the size of the struct; fairlead_options_init() sets it for options");
  const char* const content = reinterpret_cast<const char*>(&given);
  for (std::size_t i = sizeof(Struct); i < bytes; ++i)
    if (content[i] != 0)
      throw UnsupportedError(
          std::string("the ") + what +
          " have a member that this version of the library does not know: it is older than "
          "the header fairlead.h");
  Struct read = defaults;
  std::memcpy(&read, &given, std::min(bytes, sizeof(Struct)));
  read.struct_bytes = sizeof(Struct);
  return read;
}

/// Writes the members that both sides have; struct_bytes states how many these are.
template <class Struct>
void write_versioned(Struct value, Struct* out, std::size_t bytes, const char* what) {
  required(out, what);
  if (bytes < sizeof(std::size_t))
    throw UsageError(std::string("the size of the ") + what + " is " + std::to_string(bytes) +
                     " bytes: pass sizeof");
  value.struct_bytes = std::min(bytes, sizeof(Struct));
  std::memset(static_cast<void*>(out), 0, bytes);
  std::memcpy(static_cast<void*>(out), &value, value.struct_bytes);
}

}  // namespace fairlead::c
