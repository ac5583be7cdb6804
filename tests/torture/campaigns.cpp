// The list of campaigns, and how many runs each has.
#include "torture/campaign.hpp"
#include "torture/command_solve.hpp"
#include "torture/library_runs.hpp"

namespace fairlead::torture {

using namespace std::chrono_literals;

namespace {

// Sanitizers look into this process: few runs, and none of the program under the shim, which would be loaded
// before them.
constexpr bool sanitized = TORTURE_SANITIZED;
constexpr std::uint64_t share = sanitized ? 8 : 1;

}  // namespace

std::vector<CampaignEntry> campaigns() {
  std::vector<CampaignEntry> list = {
      {"Library", 260 / share, 1300, 120s, [] { return library_runs(Devices::some); }},
      {"Program", 80 / share, 400, 120s, [] { return program_in_place(Devices::some); }},
      {"LibraryOnDevices", 80 / share, 1200, 120s, [] { return library_runs(Devices::always); }},
      {"ProgramOnDevices", 40 / share, 500, 120s, [] { return program_in_place(Devices::always); }},
      {"Command", 60 / share, 300, 600s, [] { return command_runs(Devices::some); }},
      {"CommandOnDevices", 40 / share, 300, 600s, [] { return command_runs(Devices::always); }},
  };
  if (!sanitized) {
    list.push_back({"Faults", 200, 1000, 600s, [] { return faults(); }});
    list.push_back({"Kills", 200, 1000, 600s, [] { return kills(); }});
    list.push_back({"Flips", 50, 100, 600s, [] { return flips(); }});
  }
  return list;
}

}  // namespace fairlead::torture
