// The end of a command: its report as text, and the files that the settings ask for.
#pragma once
#include <fairlead/config.hpp>

#include <span>
#include <string>

#include "fairlead/subcommand.hpp"
#include "report/run_report.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::app {

/// Prints the report, and writes JSON, page and trace if the settings ask for them. `recorded` is what the
/// runtime recorded, by rank and never empty; it may be gone by now. Throws SystemError.
void publish(const report::RunReport& report, const Config& config,
             std::span<const trace::Snapshot> recorded);
/// The same for a result that may be wrong: then prints why to the standard error stream, followed by `remark`. `kept`:
/// the sentence for a report that cannot be written; empty: no file has the result. Returns the exit status.
ExitCode publish_result(const report::RunReport& report, const Config& config,
                        std::span<const trace::Snapshot> recorded, const std::string& kept,
                        const std::string& remark);

/// Throws SystemError if publish() could not write one of the files. Call it before the work.
void require_place_for_report(const Config& config);

/// Throws SystemError if it cannot be written; no partial file remains.
void write_json(const std::string& path, const Json& json);

}  // namespace fairlead::app
