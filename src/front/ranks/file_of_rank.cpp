// Output files per rank. See file_of_rank.hpp.
#include "front/ranks/file_of_rank.hpp"

#include <filesystem>
#include <system_error>

namespace fairlead::front {

std::string file_of_rank(const std::string& asked, std::uint32_t rank) {
  std::filesystem::path path(asked);
  std::error_code error;
  if (rank == 0 || std::filesystem::is_character_file(path, error)) return asked;
  const std::string extension = path.extension().string();
  return path.replace_extension("rank" + std::to_string(rank) + extension).string();
}

}  // namespace fairlead::front
