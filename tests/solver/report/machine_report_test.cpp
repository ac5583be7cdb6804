// The report of a machine shows what was found, in text and JSON.
#include "solver/report/machine_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "machine/planted.hpp"

namespace fairlead::solver {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A machine whose memory is planted, with two CUDA devices.
MachineReport example(const Config& config) {
  machine::Planted planted;
  planted.host();
  const machine::Machine machine = machine::discover({planted.root(), {}});
  linalg::BlasTiming best{
      .candidate = {}, .path = "/lib/fast.so", .core_type = "Zen", .variable = {}, .rates = {}};
  best.rates.gemm = best.rates.potrf = best.rates.trsm = best.rates.syrk = 20;
  linalg::BlasTiming plain = best;
  plain.path = "/lib/plain.so";
  plain.rates.gemm = plain.rates.potrf = plain.rates.trsm = plain.rates.syrk = 10;
  return {
      .machine = machine,
      .disk = {.directory = "/scratch",
               .file_system = "ext4",
               .mounted_at = "/",
               .total_bytes = Bytes{1} << 40,
               .free_bytes = Bytes{1} << 39,
               .writable = true,
               .write_error = {},
               .direct_io = true,
               .offset_alignment_bytes = 4096},
      .kernels = {.best = best, .default_timing = plain, .timings = {}, .failures = {}, .cache_problem = {}},
      .cuda = {.driver = nullptr, .devices = {}, .problem = "no driver"},
      .opencl = {.driver = nullptr, .devices = {}, .problem = "no loader"},
      .kept = front::KeptMeasurements(config, machine),
      .mpi = {.mpis = {{"Open MPI", "", "libopenmpi-dev"}}}};
}

TEST(MachineReport, IsTextInTwoColumns) {
  Config config;
  config.set("memory", "1GiB");
  const std::string shown = text(example(config), config);
  EXPECT_THAT(shown, HasSubstr("memory      64.0 GiB, 48.0 GiB available\n"));
  EXPECT_THAT(shown, HasSubstr("            a run takes up to 1GiB ("));
  EXPECT_THAT(shown, HasSubstr("disk        /scratch (ext4 mounted at /): 512 GiB free of 1.0 TiB\n"
                               "            direct I/O in multiples of 4096 bytes\n"));
  EXPECT_THAT(shown, HasSubstr("kernels     /lib/fast.so as Zen, "));
  EXPECT_THAT(shown, HasSubstr("2.00 times the speed of the system's default: /lib/plain.so as Zen"));
  EXPECT_THAT(shown, HasSubstr("cuda        no device: no driver\n"));
  EXPECT_THAT(shown, HasSubstr("measured    nothing is kept: there is no cache-directory\n"));
  EXPECT_THAT(shown, HasSubstr("MPI         none for Open MPI: libopenmpi-dev were missing"));
  EXPECT_THAT(text(example(Config()), Config()), Not(HasSubstr("by default, ")));
}

TEST(MachineReport, HasTheSameFactsInJson) {
  const Config config;
  const Json all = json(example(config), config);
  const std::string shown = all.text();
  for (const char* fact :
       {"\"total_bytes\": 68719476736", "\"available_bytes\": 51539607552", "\"directory\": \"/scratch\"",
        "\"offset_alignment_bytes\": 4096", "\"path\": \"/lib/fast.so\"", "\"gain\": 2",
        "\"problem\": \"no driver\"", "\"durations_kept\": 0", "\"ranks\": 1", "\"where\": "})
    EXPECT_THAT(shown, HasSubstr(fact));
}

}  // namespace
}  // namespace fairlead::solver
