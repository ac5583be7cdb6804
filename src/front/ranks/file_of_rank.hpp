// Ranks may see the same files, and each writes what it has done itself.
#pragma once
#include <cstdint>
#include <string>

namespace fairlead::front {

/// Rank 0 writes to the file that was asked for, rank 2 to run.rank2.log for run.log. Of /dev/null there is one.
std::string file_of_rank(const std::string& asked, std::uint32_t rank);

}  // namespace fairlead::front
