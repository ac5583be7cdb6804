// docs/machines.md is consistent with the files: its example is a valid machine, its table lists all files, and their rates
// follow its rules.
#include <gmock/gmock.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "machine/machine_files.hpp"

namespace fairlead::machine {
namespace {

using testing::HasSubstr;

std::string page() {
  std::ostringstream text;
  text << std::ifstream(FAIRLEAD_MACHINES_PAGE).rdbuf();
  return text.str();
}

TEST(MachinesPage, HasAValidExample) {
  const std::string text = page();
  const std::size_t begin = text.find("```toml\n") + 8, end = text.find("```\n", begin);
  ASSERT_NE(end, text.npos);
  const MachineDescription machine = read_machine(text.substr(begin, end - begin), "example");
  EXPECT_EQ(machine.devices.size(), 2u);
  EXPECT_NE(machine.processor("core").rate_of("trsm", "double"), nullptr);
  EXPECT_EQ(machine.processor("card").rate_of("trsm", "double"), nullptr);
}

TEST(MachinesPage, ListsTheFiles) {
  const std::string text = page();
  for (const EmbeddedFile& file : built_in_machine_files())
    EXPECT_THAT(text, HasSubstr("| [" + std::string(file.name) + "](../machines/" + std::string(file.name) +
                                ".toml) |"));
}

// The table's rates of a kernel, in percent of the peak.
struct Rule {
  double device_percent = 0, device_half_sides = 0, core_percent = 0, core_half_side = 0;
};
std::map<std::string, Rule> rules() {
  std::map<std::string, Rule> rules;
  std::istringstream lines(page());
  for (std::string line; std::getline(lines, line);) {
    std::ranges::replace(line, '|', ' ');
    std::ranges::replace(line, '%', ' ');
    std::istringstream row(line);
    std::string kernel;
    Rule rule;
    if (row >> kernel >> rule.device_percent >> rule.device_half_sides >> rule.core_percent >>
            rule.core_half_side &&
        kernel.starts_with('`'))
      rules[kernel.substr(1, kernel.size() - 2)] = rule;
  }
  return rules;
}

bool is_panel(const std::string& kernel) { return kernel.ends_with("trf") || kernel.ends_with("qrt"); }

TEST(MachinesPage, HasTheRulesOfAllRates) {
  const std::map<std::string, Rule> all = rules();
  ASSERT_EQ(all.size(), 11u);
  for (const EmbeddedFile& file : built_in_machine_files()) {
    const MachineDescription machine = load_machine(file.name);
    for (const ProcessorDescription& processor : machine.processors)
      for (const std::string precision : {"single", "double"}) {
        const bool core = processor.kind == WorkerKind::cpu;
        const KernelRate gemm = *processor.rate_of("gemm", precision),
                         potrf = *processor.rate_of("potrf", precision);
        for (const auto& [kernel, rule] : all) {
          SCOPED_TRACE(machine.name + ", " + processor.name + ", " + kernel + ", " + precision);
          const KernelRate rate = *processor.rate_of(kernel, precision);
          EXPECT_EQ(rate.kernel, kernel);
          // Panel kernels may have a different peak: that of potrf.
          const bool panel = is_panel(kernel) && !core;
          const KernelRate& like = panel ? potrf : gemm;
          const Rule& its = all.at(like.kernel);
          const double wanted =
              core ? rule.core_percent / its.core_percent : rule.device_percent / its.device_percent;
          EXPECT_NEAR(rate.flops_per_second / like.flops_per_second / wanted, 1, 0.03);
          EXPECT_LE(rate.flops_per_second, gemm.flops_per_second);
          if (core)
            EXPECT_EQ(rate.half_side, rule.core_half_side);
          else
            EXPECT_EQ(rate.half_side / like.half_side, rule.device_half_sides / its.device_half_sides);
        }
      }
  }
}

}  // namespace
}  // namespace fairlead::machine
