// The table of settings. After a change, regenerate docs/configuration.md: fairlead help --markdown
#include "config/schema.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::config {

namespace {

using enum SettingType;

constexpr std::string_view memory = "Memory and disk";
constexpr std::string_view running = "Running tasks";
constexpr std::string_view kernels = "Kernels";
constexpr std::string_view output = "Output";

constexpr Setting rows[] = {
    {.key = "memory",
     .type = size,
     .unset_word = "auto",
     .minimum = "64KiB",
     .help = "memory limit of the run",
     .unset_meaning = "free memory at the start, less a margin",
     .group = memory},
    {.key = "tile",
     .type = count,
     .unset_word = "auto",
     .minimum = "1",
     .help = "elements along a side of a tile",
     .unset_meaning = "chosen from the size, the memory and the workers",
     .group = memory,
     .advanced = true},
    {.key = "disk-directory",
     .type = text,
     .default_value = ".",
     .value_name = "DIRECTORY",
     .help = "directory of the data that do not fit in memory",
     .group = memory},
    {.key = "disk-bandwidth",
     .type = bandwidth,
     .unset_word = "unlimited",
     .minimum = "1KB/s",
     .help = "limit of the disk bandwidth used, reading and writing together",
     .group = memory,
     .advanced = true},
    {.key = "checkpoint",
     .type = text,
     .unset_word = "none",
     .value_name = "DIRECTORY",
     .help = "directory of a checkpoint: a run that was interrupted goes on from it. Takes twice the space "
             "of the data",
     .unset_meaning = "an interrupted run starts again",
     .group = memory,
     .advanced = true},
    {.key = "checkpoint-period",
     .type = text,
     .default_value = "60s",
     .value_name = "TIME",
     .help = "time between checkpoints, as 10m or 30s; more if they would take more than 5 % of the run",
     .group = memory,
     .advanced = true},
    {.key = "stop-after",
     .type = text,
     .unset_word = "never",
     .value_name = "TIME",
     .help = "make a checkpoint after this time and stop, as 11h50m or 90s",
     .unset_meaning = "the run is not stopped",
     .group = memory,
     .advanced = true},
    {.key = "stop-limit",
     .type = text,
     .unset_word = "none",
     .value_name = "TIME",
     .help = "give up the checkpoint of stop-after or SIGTERM after this time, and stop",
     .unset_meaning = "it may take any time",
     .group = memory,
     .advanced = true},
    {.key = "disk-threads",
     .type = count,
     .default_value = "4",
     .minimum = "1",
     .maximum = "256",
     .help = "threads that read and write the disk",
     .group = memory,
     .advanced = true},
    {.key = "checksums",
     .type = flag,
     .default_value = "true",
     .help = "detect data that come back changed from the disk",
     .group = memory,
     .advanced = true},
    {.key = "huge-pages",
     .type = flag,
     .default_value = "true",
     .help = "request huge pages from the system",
     .group = memory,
     .advanced = true},

    {.key = "workers",
     .type = count,
     .unset_word = "auto",
     .minimum = "1",
     .maximum = "65534",
     .help = "threads that run tasks",
     .unset_meaning = "one for each core that this process may use",
     .group = running},
    {.key = "devices",
     .type = text,
     .unset_word = "auto",
     .value_name = "LIST",
     .help = "accelerators that run tasks, as in cuda:0,memory=8GiB + cuda:1,memory=8GiB or "
             "emulated:memory=256MiB,bandwidth=10GB/s; none",
     .unset_meaning = "for solve the GPUs that shorten the run, else none",
     .group = running},
    {.key = "scheduler",
     .type = text,
     .unset_word = "auto",
     .value_name = "NAME",
     .help = "the scheduling policy: one that `fairlead schedulers` lists, with its options, or the path of "
             "a plug-in, FILE.so",
     .unset_meaning = "lws if only cores compute and all data fit in RAM; urgent or near on cores of several "
                      "ranks; else what-if, which simulates several policies and uses the fastest",
     .group = running},
    {.key = "window",
     .type = count,
     .default_value = "2048",
     .minimum = "1",
     .help = "unfinished tasks that submission may run ahead; a policy may request more",
     .group = running,
     .advanced = true},
    {.key = "pipeline-depth",
     .type = count,
     .unset_word = "auto",
     .minimum = "1",
     .maximum = "1024",
     .help = "tasks assigned to a worker ahead, so that their data arrive in time",
     .unset_meaning = "from measured times",
     .group = running,
     .advanced = true},
    {.key = "fixed-order",
     .type = flag,
     .default_value = "false",
     .help = "reductions and commutative tasks in program order, and each task on one kind of processor: the "
             "same bits in every run",
     .group = running,
     .advanced = true},
    {.key = "bind-threads",
     .type = flag,
     .default_value = "true",
     .help = "bind each worker to a core of its own",
     .group = running,
     .advanced = true},
    {.key = "fast-path",
     .type = flag,
     .default_value = "true",
     .help = "fast path, with lws and while all data fit: ready tasks go directly to the workers' own queues",
     .group = running,
     .advanced = true},
    {.key = "spin",
     .type = count,
     .default_value = "50",
     .maximum = "1000000",
     .value_name = "MICROSECONDS",
     .help = "microseconds that an idle worker polls before it sleeps",
     .group = running,
     .advanced = true},
    {.key = "keep-durations",
     .type = flag,
     .default_value = "true",
     .help = "start with the task durations of earlier runs, and keep those of this run",
     .group = running,
     .advanced = true},
    {.key = "quiet-period",
     .type = count,
     .default_value = "30",
     .maximum = "1000000",
     .value_name = "SECONDS",
     .help = "seconds without any progress after which the run reports what waits for what; 0: never",
     .group = running,
     .advanced = true},
    {.key = "rank-timeout",
     .type = count,
     .default_value = "10",
     .maximum = "1000000",
     .value_name = "SECONDS",
     .help = "seconds without an answer after which a rank that mpirun has started is lost, and the job "
             "ends; 1 and 2 mean 3; 0: no limit",
     .group = running,
     .advanced = true},
    {.key = "network-thread",
     .type = choice,
     .default_value = "auto",
     .choices = "auto|off|on",
     .help = "a thread that only polls the network between ranks that mpirun has started, so that no worker "
             "does; auto: if the rank has a core without a worker; on: always, with one worker less unless "
             "their number is given",
     .group = running,
     .advanced = true},
    {.key = "node-local-reads",
     .type = choice,
     .default_value = "auto",
     .choices = "auto|off|on",
     .help = "ranks of one machine copy values from each other's memory; auto: if the system permits it; on: "
             "it is an error if not",
     .group = running,
     .advanced = true},
    {.key = "receive-into",
     .type = choice,
     .default_value = "auto",
     .choices = "auto|host|advised|random",
     .help = "where values of other ranks arrive that a graph receives: in RAM (host), in the memory of the "
             "device where the data of their task should live (advised), or of any device (random); auto: of "
             "the CUDA device where the task that reads them is expected to run, if the MPI writes such "
             "memory, else in RAM",
     .group = running,
     .advanced = true},
    {.key = "eager-limit",
     .type = size,
     .default_value = "2KiB",
     .help = "values up to this size are sent with the message that announces them, if the receiver has "
             "room; larger ones are requested; 0: all are requested",
     .group = running,
     .advanced = true},
    {.key = "broadcast-tree",
     .type = count,
     .default_value = "0",
     .maximum = "4096",
     .help = "values that at least this many ranks receive are sent along a tree of ranks; 0: never",
     .group = running,
     .advanced = true},
    {.key = "seed",
     .type = count,
     .default_value = "0",
     .help = "seed of all random choices",
     .group = running,
     .advanced = true},

    {.key = "blas",
     .type = text,
     .unset_word = "auto",
     .value_name = "LIBRARY",
     .help = "path or name of the BLAS library",
     .unset_meaning = "the fastest of those found",
     .group = kernels,
     .advanced = true},
    {.key = "blas-coretype",
     .type = text,
     .unset_word = "auto",
     .value_name = "NAME",
     .help = "the core type that the BLAS library is set to",
     .unset_meaning = "timed once on this machine",
     .group = kernels,
     .advanced = true},
    {.key = "blas-products",
     .type = choice,
     .default_value = "auto",
     .choices = "auto|library|own",
     .help = "matrix products of the BLAS library, or Fairlead's own for AVX-512; auto: timed once on this "
             "machine",
     .group = kernels,
     .advanced = true},
    {.key = "cuda-kernels",
     .type = text,
     .unset_word = "auto",
     .value_name = "FILE",
     .help = "file of Fairlead's own kernels for CUDA devices, which QR needs there, compiled elsewhere by "
             "nvcc; none: without",
     .unset_meaning = "those compiled in, if there was an nvcc",
     .group = kernels,
     .advanced = true},
    {.key = "cache-directory",
     .type = text,
     .unset_word = "none",
     .value_name = "DIRECTORY",
     .help = "directory where measurements of this machine are kept for later runs",
     .default_shown = "$XDG_CACHE_HOME/fairlead",
     .group = kernels,
     .advanced = true},

    {.key = "progress",
     .type = choice,
     .default_value = "auto",
     .choices = "auto|bar|lines|none",
     .help = "how progress is shown; auto: a bar on a terminal, lines elsewhere",
     .group = output,
     .advanced = true},
    {.key = "live",
     .type = count,
     .unset_word = "none",
     .maximum = "65535",
     .value_name = "PORT",
     .help = "serve a live page of the run at this port; 0: any",
     .group = output},
    {.key = "live-address",
     .type = text,
     .default_value = "127.0.0.1",
     .value_name = "ADDRESS",
     .help = "numeric address of this machine at which the live page is served; 0.0.0.0: all, so that other "
             "machines reach it, unencrypted",
     .group = output,
     .advanced = true},
    {.key = "live-token",
     .type = flag,
     .default_value = "true",
     .help =
         "the live page requires the random token of its address; without, any user of the machine sees it",
     .group = output,
     .advanced = true},
    {.key = "json",
     .type = text,
     .unset_word = "none",
     .value_name = "FILE",
     .help = "write the report to this file as JSON",
     .group = output},
    {.key = "report",
     .type = text,
     .unset_word = "none",
     .value_name = "FILE",
     .help = "write a page with charts of the run to this file",
     .group = output},
    {.key = "trace",
     .type = text,
     .unset_word = "none",
     .value_name = "FILE",
     .help = "write every task and copy to this file, for the Perfetto viewer",
     .group = output,
     .advanced = true},
    {.key = "trace-memory",
     .type = size,
     .default_value = "64MiB",
     .minimum = "64KiB",
     .help = "memory for the records of report and trace, outside the limit; when it is full, the oldest are "
             "dropped",
     .group = output,
     .advanced = true},
    {.key = "event-log",
     .type = text,
     .unset_word = "none",
     .value_name = "FILE",
     .help = "write all events of the engine to this file, for replay; of several ranks of a program, rank 2 "
             "to run.rank2.log for run.log",
     .group = output,
     .advanced = true},
    {.key = "record-flow",
     .type = text,
     .unset_word = "none",
     .value_name = "FILE",
     .help =
         "write the program's data and tasks to this file, for `fairlead simulate --recorded`; of several "
         "ranks of a program, rank 2 to run.rank2.flow for run.flow",
     .group = output,
     .advanced = true},
};

constexpr RenamedSetting renamed_rows[] = {{"direct-lane", "fast-path"}};

}  // namespace

std::span<const Setting> schema() noexcept { return rows; }

std::span<const RenamedSetting> renamed_settings() noexcept { return renamed_rows; }

std::string_view current_key(std::string_view key) noexcept {
  const auto found = std::ranges::find(renamed_rows, key, &RenamedSetting::former);
  return found == std::end(renamed_rows) ? key : found->current;
}

std::vector<AcceptedSetting> accepted_settings(std::span<const std::string_view> own_keys) {
  // Settings of the command `fairlead` that a runtime does not use.
  constexpr std::string_view of_the_command[] = {"tile",         "blas",     "blas-coretype", "blas-products",
                                                 "cuda-kernels", "progress", "json"};
  for (const std::string_view key : own_keys)
    if (std::ranges::find(rows, key, &Setting::key) == std::end(rows))
      throw UsageError(fmt::format("Config::from_args: there is no setting \"{}\"", key));
  std::vector<AcceptedSetting> accepted;
  for (const Setting& row : rows) {
    const bool used = std::ranges::find(of_the_command, row.key) == std::end(of_the_command) ||
                      std::ranges::find(own_keys, row.key) != own_keys.end();
    accepted.push_back(
        {.key = row.key,
         .refused = used ? std::string_view()
                         : "would change nothing: it is an option of the command `fairlead`, and "
                           "this program does not use it"});
  }
  return accepted;
}

}  // namespace fairlead::config
