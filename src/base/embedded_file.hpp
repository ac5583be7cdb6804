// A file of the repository that is text inside the library: cmake/embedded.cmake makes functions that return
// them.
#pragma once
#include <string_view>

namespace fairlead {

struct EmbeddedFile {
  std::string_view name;  ///< its path below the folder that was embedded; of a .toml without that ending
  std::string_view text;
};

}  // namespace fairlead
