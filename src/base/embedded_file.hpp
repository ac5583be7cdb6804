// A file of the repository embedded in the library as text. cmake/embedded.cmake generates functions that return
// them.
#pragma once
#include <string_view>

namespace fairlead {

struct EmbeddedFile {
  std::string_view name;  ///< path below the embedded folder; without the ending if that is .toml
  std::string_view text;
};

}  // namespace fairlead
