// The settings. After a change, write docs/configuration.md anew: fairlead help --markdown
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
     .absent = "auto",
     .minimum = "64KiB",
     .help = "how much memory the run may use",
     .absent_means = "what is free now, less a margin",
     .group = memory},
    {.key = "tile",
     .type = count,
     .absent = "auto",
     .minimum = "1",
     .help = "elements along a side of a tile",
     .absent_means = "chosen from the size, the memory and the workers",
     .group = memory},
    {.key = "disk-directory",
     .type = text,
     .fallback = ".",
     .value_name = "DIRECTORY",
     .help = "where data that do not fit in memory are kept during the run",
     .group = memory},
    {.key = "disk-bandwidth",
     .type = bandwidth,
     .absent = "unlimited",
     .minimum = "1KB/s",
     .help = "use at most this much of the disk's bandwidth, reading and writing together",
     .group = memory},
    {.key = "disk-threads",
     .type = count,
     .fallback = "4",
     .minimum = "1",
     .maximum = "256",
     .help = "threads that read and write the disk",
     .group = memory},
    {.key = "checksums",
     .type = flag,
     .fallback = "true",
     .help = "notice it when data come back from the disk otherwise than they were written",
     .group = memory},
    {.key = "huge-pages",
     .type = flag,
     .fallback = "true",
     .help = "ask the system for huge pages",
     .group = memory},

    {.key = "workers",
     .type = count,
     .absent = "auto",
     .minimum = "1",
     .maximum = "65534",
     .help = "threads that run tasks",
     .absent_means = "one for each core that this process may really use",
     .group = running},
    {.key = "devices",
     .type = text,
     .absent = "auto",
     .value_name = "LIST",
     .help = "accelerators to run tasks on, as in cuda:0,memory=8GiB + cuda:1,memory=8GiB or "
             "emulated:memory=256MiB,bandwidth=10GB/s; none",
     .absent_means = "for solve the GPUs from which the problem gains, else none",
     .group = running},
    {.key = "scheduler",
     .type = text,
     .absent = "auto",
     .value_name = "NAME",
     .help = "the policy that orders tasks and evictions: one that `fairlead schedulers` lists, with its "
             "options, or the path of a plug-in, FILE.so",
     .absent_means = "lws where cores work on data that fit in RAM; urgent or near where cores of several "
                     "ranks do; else rehearsed, which finds out which is best",
     .group = running},
    {.key = "window",
     .type = count,
     .fallback = "2048",
     .minimum = "1",
     .help = "unfinished tasks that submission may run ahead; a policy may ask for more",
     .group = running},
    {.key = "pipeline-depth",
     .type = count,
     .absent = "auto",
     .minimum = "1",
     .maximum = "1024",
     .help = "tasks a worker is given ahead, so that their data arrive in time",
     .absent_means = "by measured times",
     .group = running},
    {.key = "fixed-order",
     .type = flag,
     .fallback = "false",
     .help = "reductions and commutative tasks in program order, and each task on one kind of processor: the "
             "same "
             "bits in every run",
     .group = running},
    {.key = "bind-threads",
     .type = flag,
     .fallback = "true",
     .help = "keep each worker on a core of its own",
     .group = running},
    {.key = "direct-lane",
     .type = flag,
     .fallback = "true",
     .help = "with lws, while all data fit: ready tasks go to workers' own queues, past the engine",
     .group = running},
    {.key = "spin",
     .type = count,
     .fallback = "50",
     .maximum = "1000000",
     .value_name = "MICROSECONDS",
     .help = "how long an idle worker looks for work before it sleeps",
     .group = running},
    {.key = "keep-durations",
     .type = flag,
     .fallback = "true",
     .help = "begin with how long tasks took in earlier runs, and keep it for later ones",
     .group = running},
    {.key = "quiet-period",
     .type = count,
     .fallback = "30",
     .maximum = "1000000",
     .value_name = "SECONDS",
     .help = "after this long without any progress, say what waits for what; 0: never",
     .group = running},
    {.key = "rank-timeout",
     .type = count,
     .fallback = "10",
     .maximum = "1000000",
     .value_name = "SECONDS",
     .help =
         "a rank that mpirun has started and that has not answered for so long is lost, and the job ends; "
         "1 and 2 mean 3; 0: however long it takes",
     .group = running},
    {.key = "network-thread",
     .type = choice,
     .fallback = "auto",
     .choices = "auto|off|on",
     .help = "a thread does nothing but look at what ranks that mpirun has started send each other, and no "
             "worker does; auto: where the rank has a core that no worker has; on: also else, and there is a "
             "worker less unless their number is given",
     .group = running},
    {.key = "node-local-reads",
     .type = choice,
     .fallback = "auto",
     .choices = "auto|off|on",
     .help = "ranks of one machine copy values from each other's memory; auto: where the system lets them, "
             "on: or "
             "else it is an error",
     .group = running},
    {.key = "receive-into",
     .type = choice,
     .fallback = "auto",
     .choices = "auto|host|advised|random",
     .help = "where values of other ranks land that a graph gets: in RAM (host), in the memory of the device "
             "where what "
             "they are for should live, or of any; auto: of the CUDA device where the task is expected to "
             "run that reads "
             "them, if the MPI writes such memory, else in RAM",
     .group = running},
    {.key = "eager-limit",
     .type = size,
     .fallback = "2KiB",
     .help = "values up to this size travel from rank to rank with the message that tells of them, as far as "
             "there is "
             "room for them there; others are asked for; 0: all",
     .group = running},
    {.key = "broadcast-tree",
     .type = count,
     .fallback = "0",
     .maximum = "4096",
     .help = "what at least so many ranks get goes down a tree of them; 0: never",
     .group = running},
    {.key = "seed",
     .type = count,
     .fallback = "0",
     .help = "the seed of everything random",
     .group = running},

    {.key = "blas",
     .type = text,
     .absent = "auto",
     .value_name = "LIBRARY",
     .help = "path or name of the BLAS library",
     .absent_means = "the fastest of those found",
     .group = kernels},
    {.key = "blas-coretype",
     .type = text,
     .absent = "auto",
     .value_name = "NAME",
     .help = "the processor that BLAS is told it runs on",
     .absent_means = "timed once on this machine",
     .group = kernels},
    {.key = "blas-products",
     .type = choice,
     .fallback = "auto",
     .choices = "auto|library|own",
     .help = "whose products of matrices: the BLAS library's, or Fairlead's own for AVX-512; auto: timed "
             "once on this "
             "machine",
     .group = kernels},
    {.key = "cuda-kernels",
     .type = text,
     .absent = "auto",
     .value_name = "FILE",
     .help =
         "Fairlead's own kernels for CUDA devices, which QR needs there, as nvcc made them of its sources "
         "elsewhere; none: without",
     .absent_means = "those that were compiled with it, if there was an nvcc",
     .group = kernels},
    {.key = "cache-directory",
     .type = text,
     .absent = "none",
     .value_name = "DIRECTORY",
     .help = "where what is measured of this machine is kept for later runs",
     .default_shown = "$XDG_CACHE_HOME/fairlead",
     .group = kernels},

    {.key = "progress",
     .type = choice,
     .fallback = "auto",
     .choices = "auto|bar|lines|none",
     .help = "how progress is shown; auto: a bar on a terminal, lines elsewhere",
     .group = output},
    {.key = "json",
     .type = text,
     .absent = "none",
     .value_name = "FILE",
     .help = "write the report to this file as JSON",
     .group = output},
    {.key = "report",
     .type = text,
     .absent = "none",
     .value_name = "FILE",
     .help =
         "write a page about the run to this file, for a browser: chart of workers, links and memory, tables",
     .group = output},
    {.key = "trace",
     .type = text,
     .absent = "none",
     .value_name = "FILE",
     .help = "write every task and copy to this file, for the Perfetto viewer",
     .group = output},
    {.key = "trace-memory",
     .type = size,
     .fallback = "64MiB",
     .minimum = "64KiB",
     .help =
         "memory for what report and trace show, besides the limit; the oldest is dropped when it is full",
     .group = output},
    {.key = "event-log",
     .type = text,
     .absent = "none",
     .value_name = "FILE",
     .help =
         "write every event that the engine is told to this file, for replay; of several ranks of a program, "
         "rank 2 to run.rank2.log for run.log",
     .group = output},
    {.key = "record-flow",
     .type = text,
     .absent = "none",
     .value_name = "FILE",
     .help =
         "write the program's data and tasks to this file, for `fairlead simulate --recorded`; of several "
         "ranks of a program, rank 2 to run.rank2.flow for run.flow",
     .group = output},
};

}  // namespace

std::span<const Setting> schema() noexcept { return rows; }

std::vector<TakenSetting> taken_by_programs(std::span<const std::string_view> heeded) {
  // What the command `fairlead` heeds, and no runtime.
  constexpr std::string_view of_the_command[] = {"tile",         "blas",     "blas-coretype", "blas-products",
                                                 "cuda-kernels", "progress", "json"};
  for (const std::string_view key : heeded)
    if (std::ranges::find(rows, key, &Setting::key) == std::end(rows))
      throw UsageError(
          fmt::format("Config::from_args: there is no setting \"{}\" that a program could heed", key));
  std::vector<TakenSetting> taken;
  for (const Setting& row : rows) {
    const bool used = std::ranges::find(of_the_command, row.key) == std::end(of_the_command) ||
                      std::ranges::find(heeded, row.key) != heeded.end();
    taken.push_back({.key = row.key,
                     .refused = used ? std::string_view()
                                     : "would change nothing: it is an option of the command `fairlead`, and "
                                       "this program does not look at it"});
  }
  return taken;
}

}  // namespace fairlead::config
