// Names of output files per rank: ranks may share a file system, and each writes its own file.
#pragma once
#include <cstdint>
#include <string>

namespace fairlead::front {

/// Rank 0 writes to the configured file, rank 2 to run.rank2.log for run.log. Devices such as /dev/null are not
/// renamed.
std::string file_of_rank(const std::string& asked, std::uint32_t rank);

}  // namespace fairlead::front
