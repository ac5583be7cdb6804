// The end of a solve: writes the solution and the reports, and prints errors.
#pragma once
#include <fairlead/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/npy/npy_writer.hpp"
#include "report/run_report.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::app {

/// Writes `rows` x `columns` elements, `ld` from one column to the next, as `element`, which is complex if T is.
template <class T>
void write_solution(data::NpyWriter& out, data::ElementType element, const T* x, std::uint64_t ld,
                    std::uint64_t rows, std::uint64_t columns, std::span<std::byte> staging);

/// --require-digits; nothing if it is not given.
std::optional<int> required_digits(const Config& config);

/// Publishes the report, and prints to the standard error stream why the result is wrong, if it is. Returns
/// an ExitCode.
int publish_solution(const report::RunReport& report, const Config& config,
                     std::span<const trace::Snapshot> recorded);

}  // namespace fairlead::app
