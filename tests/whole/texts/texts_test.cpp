// Every text from users or other processes is read, or refused with an error that states why, whatever its
// content. Texts that are read are then used.
#include <fairlead/error.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "algorithms/linalg/blas/timing_cache.hpp"
#include "backend/device_list.hpp"
#include "base/shared_file.hpp"
#include "config/environment.hpp"
#include "config/file.hpp"
#include "config/schema.hpp"
#include "engine/event_log.hpp"
#include "engine/log/logged_run.hpp"
#include "engine/replay.hpp"
#include "experiment/experiment.hpp"
#include "experiment/run.hpp"
#include "machine/machine_files.hpp"
#include "model/machine_file.hpp"
#include "sanitized.hpp"
#include "simulate/flow_file.hpp"
#include "simulate/run_outcome.hpp"
#include "whole/texts/cases.hpp"
#include "whole/texts/mutations.hpp"

namespace fairlead::tests {
namespace {

using namespace simulate;

constexpr std::uint64_t cases = tests::sanitized ? 250 : 2'500;  // of each kind: 4,000, 20,000 together
constexpr std::uint64_t most_events = 20'000;

using Texts = std::vector<std::string>;

/// Seeds with changes.
std::function<std::string(Random&)> changed(Texts seeds, Texts words) {
  return [seeds = std::move(seeds), words = std::move(words)](Random& random) {
    return mutated(seeds, words, random);
  };
}

/// A temporary folder of the test; in memory, since thousands of files are written there one after the
/// other.
class Folder {
 public:
  Folder() {
    const std::filesystem::path memory = "/dev/shm";
    const auto place = ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
    std::string name = (place / "fairlead-texts-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void write(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

Texts keys_of_settings() {
  Texts keys;
  for (const Setting& setting : config::schema()) keys.emplace_back(setting.key);
  return keys;
}

/// Small enough to run on any described machine.
Program small_program() { return make_workload("cholesky", {.n = 3840, .tile = 960}); }

void run_on(const machine::MachineDescription& description, const Program& program) {
  const SimulatedMachine machine(description, {}, program, Precision::double_);
  limits_of(program, machine, nullptr, {});
  for (const char* policy : {"eager", "dmda"})
    outcome_of(program, machine, policy, {.most_events = most_events});
}

}  // namespace

TEST(Texts, OfSettings) {
  const Folder folder;
  const std::string path = folder / "config.toml";
  run_cases(
      "settings", cases,
      {changed(
           {"memory = \"512MiB\"\ntile = 256\ndisk-directory = \"/scratch\"\ndisk-bandwidth = \"250MB/s\"\n"
            "disk-threads = 8 # here\nbind-threads = false\nspin = 50\n",
            "scheduler = 'darts:fetch=late'\n\"workers\" = 4\nreport = \"\"\"\na\nb\"\"\"\nseed = 18\n",
            "devices = \"emulated:memory=1MiB\"\n[table]\nx = [{a = 1, b = [1.5, 2e3]}, 1979-05-27]\n"
            "[[more.of]]\ny.z = 0x1F\n"},
           keys_of_settings()),
       [&](const std::string& text) {
         write(path, text);
         config::parse({{"--config", path}, {}}, {}).config.report();
       }});
}

TEST(Texts, OfTheEnvironment) {
  Texts words = keys_of_settings();
  for (const Setting& setting : config::schema()) words.push_back(config::variable_of(setting.key));
  run_cases(
      "environment", cases,
      {changed({"FAIRLEAD_MEMORY=512MiB\nFAIRLEAD_TILE=auto\nFAIRLEAD_WORKERS=3\nHOME=/root\n",
                "FAIRLEAD_DISK_BANDWIDTH=1.5GiB/s\nFAIRLEAD_SEED=7\nFAIRLEAD_PROGRESS=bar\n",
                "FAIRLEAD_CONFIG=none\nXDG_CACHE_HOME=/a\nFAIRLEAD_HUGE_PAGES=false\nFAIRLEAD_SPIN=10\n"},
               words),
       [&](const std::string& text) {
         config::Environment variables;
         std::istringstream lines(text);
         for (std::string line; std::getline(lines, line);)
           variables.emplace(line.substr(0, line.find('=')),
                             line.substr(std::min(line.find('='), line.size() - 1) + 1));
         config::parse({{}, variables}, {}).config.report();
       }});
}

TEST(Texts, OfMachines) {
  Texts seeds;
  for (const EmbeddedFile& file : machine::built_in_machine_files()) seeds.emplace_back(file.text);
  const Program program = small_program();
  run_cases("machines", cases,
            {changed(seeds, {"memory", "cores", "count", "bandwidth", "processor", "[[device]]", "[[peers]]",
                             "all = true", "gflops", "by_side", "[unified_memory]", "ports = true",
                             "\"1B/s\"", "\"16EiB\""}),
             [&](const std::string& text) { run_on(machine::read_machine(text, "m.toml"), program); }});
}

TEST(Texts, OfExperiments) {
  Texts seeds;
  for (const EmbeddedFile& file : experiment::experiment_files())
    if (file.text.size() < 5000) seeds.emplace_back(file.text);
  run_cases(
      "experiments", cases,
      {changed(seeds, {"tiles", "tile", "n", "gpus", "seeds", "values", "around", "{x}", "[[line]]",
                       "[[claim]]", "machine", "every_policy = true", "depth", "noise", "streams", "cores"}),
       [](const std::string& text) {
         const experiment::Experiment read = experiment::read_experiment("e", text, "e.toml");
         experiment::runs_of(read, true);
         experiment::runs_of(read, false);
       }});
}

TEST(Texts, OfFlowFiles) {
  const std::string head = "fairlead-flow 1\nphase 1\nfile 0 solver.cpp\n";
  const machine::MachineDescription description = machine::load_machine("guyot");
  run_cases(
      "recorded flows", cases,
      {changed(
           {head +
                "codelet 0 cpu none fill\ndatum 0 80000 0 1 0 empty A[1,0]\ntask 0 0:7 0 0 w0\n"
                "datum 1 80000 0 0 0 empty A[0,0]\ntask 0 0:7 0 0 w1\nphase 2\ncodelet 1 cpu,cuda flops "
                "gemm\n"
                "datum 2 8 -1 -1 -1 value the sum\ntask 1 0:9 4 2e6 r0 rw1\ntask 1 0:9 0 1e3 c2\nend 3 4\n",
            head + "codelet 0 cpu nanoseconds a b\ndatum 0 64 -1 -1 -1 value x\ntask 0 0:1 0 5e5 x0\n"
                   "task 0 0:1 -3 1e4 rw0\nduration cpu 64 3 1200 a b\nleft-out 2 acquires\nend 1 2\n"},
           {"task", "datum", "codelet", "phase", "end", "duration cpu 64 3 1e300 fill\n", "rw0", "value",
            "empty"}),
       [&](const std::string& text) {
         const FlowFile flow = read_flow_text(text, "run.flow", Precision::double_);
         run_on(description, flow.program);
       }});
}

TEST(Texts, OfEventLogs) {
  struct Log {
    std::vector<std::uint64_t> head, words;
  };
  std::vector<Log> logs;
  for (const char* policy : {"eager", "darts", "dmda", "blocks"})
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      Log& log = logs.emplace_back();
      RunOptions options{.policy = policy, .copies_fail = true, .tasks_fail = true, .tasks = 30};
      options.at_end = [&](const engine::Engine& engine) {
        engine::LogHead head = engine.log_head();
        head.policy = policy;
        log = {head.words(), engine.journal().log().words()};
      };
      RunResult result;
      random_run(seed, options, result);
    }
  const auto bytes = [](const std::vector<std::uint64_t>& words) {
    return std::string(reinterpret_cast<const char*>(words.data()), words.size() * 8);
  };
  const auto make = [&](Random& random) {
    const Log& log = logs[random.below(logs.size())];
    const bool of_head = random.once_in(2);
    const std::vector<std::uint64_t> head = of_head ? mutated(log.head, random) : log.head,
                                     words = of_head ? log.words : mutated(log.words, random);
    return bytes({head.size()}) + bytes(head) + bytes(words);
  };
  run_cases("event logs", cases,
            {make, [](const std::string& text) {
               std::vector<std::uint64_t> all(text.size() / 8);
               std::memcpy(all.data(), text.data(), all.size() * 8);
               const std::span<const std::uint64_t> words(all);
               const engine::LogHead head = engine::LogHead::from(words.subspan(1, words[0]));
               engine::replay(head, schedule::make_policy(head.policy), words.subspan(1 + words[0]));
             }});
}

// As files they are read with a checksum, which is right here every other time.
TEST(Texts, OfKeptFiles) {
  const Folder folder;
  const model::MachineFile facts(folder.path(), "node7");
  const linalg::TimingKey key{{}, 512, {"/usr/lib/libblas.so"}, ""};
  facts.add({{"gemm",
              WorkerKind::cpu,
              "a core",
              "blas",
              WorkUnit::flops,
              77,
              1000,
              20,
              {1, 2, 3, 4, 5, 6, 7, 8},
              20000},
             {"trsm", WorkerKind::cuda, "", "", WorkUnit::none, 1, 1, 1, {8, 8, 8, 8, 9, 9, 9, 9}, 1}},
            {}, 20778);
  facts.put(
      {{"disk", "RAM", "ext4 at /scratch", 3'000'000'000, 2'000'000'000, 2'500'000'000, 90'000, 20778}});
  std::filesystem::path timings;
  {
    const linalg::TimingCache cache(folder.path(), key);
    cache.write({{{{"/bin/true", "Haswell", "X", "2"}, "/bin/true", "Haswell", "X", {1, 2, 3, 4}}},
                 {{{"/bin/false", "Zen"}, "it fails"}}});
    timings = cache.file();
  }
  const auto text_of = [](const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const Texts seeds{text_of(facts.path()), text_of(timings)};
  ASSERT_FALSE(seeds[0].empty() || seeds[1].empty());
  const auto make = [&](Random& random) {
    std::string text = mutated(
        seeds, {"link", "duration", "machine", "timing", "failure", "\tnan\t", "9999999-99-99"}, random);
    const std::size_t check = text.rfind("\ncheck\t");
    if (check == text.npos || random.once_in(2)) return text;
    char sum[32];
    std::snprintf(sum, sizeof sum, "check\t%016llx\n",
                  static_cast<unsigned long long>(text_hash({text.data(), check + 1})));
    return text.substr(0, check + 1) + sum;
  };
  run_cases("kept files", cases,
            {make, [&](const std::string& text) {
               write(facts.path(), text);
               for (const model::KeptLink& link : facts.load().links) model::date_text(link.day);
               facts.add(
                   {{"gemm", WorkerKind::cpu, "a core", "blas", WorkUnit::flops, 77, 1000, 20, {}, 20000}},
                   {}, 20778);
               write(timings, text);
               linalg::TimingCache(folder.path(), key).read();
             }});
}

TEST(Texts, OfDevicesAndPolicies) {
  run_cases("devices, policies, workloads", cases,
            {changed({"emulated:memory=256MiB,bandwidth=10GB/s,count=2 + emulated:memory=1GiB,speed=0.5",
                      "emulated:memory=64MiB,latency=10,copies=blocking,workers=4,peers=1.5GB/s",
                      "darts:fetch=late:ready=first", "heft-tm", "eager:order=program", "blocks", "cholesky",
                      "qr:tree=binary", "gpu1:4:0.5-0.9,core0:2", "lws:x=1"},
                     {"memory", "bandwidth", "latency", "speed", "copies", "workers", "peers", "count",
                      "emulated", "order", "gpu0:", "core"}),
             [](const std::string& text) {
               std::string wrong;
               const auto try_one = [&](const auto& read) {
                 try {
                   read();
                 } catch (const Error&) {
                 }
               };
               try_one([&] { backend::workers_of_devices(text, backend::default_backends()); });
               try_one([&] { schedule::make_policy(text); });
               try_one([&] { slowdowns_in(text); });
               try_one([&] { misjudged_in(text); });
               try_one([&] { make_workload(text, {.n = 3840, .tile = 960}); });
             }});
}

}  // namespace fairlead::tests
