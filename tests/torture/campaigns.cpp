// The list of campaigns, and how many runs each has.
#include "torture/campaign.hpp"
#include "torture/command_solve.hpp"
#include "torture/library_runs.hpp"

namespace fairlead::torture {

using namespace std::chrono_literals;

std::vector<CampaignEntry> campaigns() {
  return {
      {"Library", 260, 1300, 120s, [] { return library_runs(Devices::some); }},
      {"Program", 80, 400, 120s, [] { return program_in_place(Devices::some); }},
      {"LibraryOnDevices", 80, 1200, 120s, [] { return library_runs(Devices::always); }},
      {"ProgramOnDevices", 40, 500, 120s, [] { return program_in_place(Devices::always); }},
      {"Command", 60, 300, 600s, [] { return command_runs(Devices::some); }},
      {"CommandOnDevices", 40, 300, 600s, [] { return command_runs(Devices::always); }},
      {"Faults", 200, 1000, 600s, [] { return faults(); }},
      {"Kills", 200, 1000, 600s, [] { return kills(); }},
      {"Flips", 50, 100, 600s, [] { return flips(); }},
  };
}

}  // namespace fairlead::torture
