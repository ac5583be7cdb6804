// The list of campaigns, with their numbers of runs.
#include "torture/campaign.hpp"
#include "torture/command_solve.hpp"
#include "torture/library_runs.hpp"

namespace fairlead::torture {

using namespace std::chrono_literals;

namespace {

// Sanitizers check this process: few runs, and none of the program with the shim, which would be loaded
// before them.
constexpr bool sanitized = TORTURE_SANITIZED;

}  // namespace

std::vector<CampaignEntry> campaigns() {
  std::vector<CampaignEntry> list = {
      {"Library", sanitized ? 24 : 80, 1300, 120s, [] { return library_runs(Devices::some); }},
      {"Program", sanitized ? 10 : 40, 400, 120s, [] { return program_in_place(Devices::some); }},
      {"LibraryOnDevices", sanitized ? 8 : 40, 1200, 120s, [] { return library_runs(Devices::always); }},
      {"ProgramOnDevices", sanitized ? 5 : 30, 500, 120s, [] { return program_in_place(Devices::always); }},
      {"Command", sanitized ? 7 : 40, 300, 600s, [] { return command_runs(Devices::some); }},
      {"CommandOnDevices", sanitized ? 5 : 30, 300, 600s, [] { return command_runs(Devices::always); }},
  };
  if (!sanitized) {
    list.push_back({"Faults", 40, 1000, 600s, [] { return faults(); }});
    list.push_back({"Kills", 26, 1000, 600s, [] { return kills(); }});
    list.push_back({"Flips", 10, 100, 600s, [] { return flips(); }});
  }
  return list;
}

}  // namespace fairlead::torture
