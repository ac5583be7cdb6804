// See trace_collection.hpp.
#include "report/trace_collection.hpp"

#include <fairlead/flow.hpp>
#include <fairlead/messages.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "trace/snapshot_bytes.hpp"

namespace fairlead::report {

namespace {

constexpr std::uint32_t tag_of_traces = 0x7ace;

/// Sends bytes to, or receives them from, another rank in chunks that fit into any memory.
class ChunkedTransfer {
 public:
  explicit ChunkedTransfer(Runtime& runtime)
      : runtime_(runtime),
        flow_(runtime),
        bytes_(std::clamp<Bytes>(runtime.capacity_bytes() / 64, 512, Bytes{256} << 10) / 8 * 8),
        chunk_(runtime.vector<std::int64_t>("a piece of a trace", static_cast<std::int64_t>(bytes_ / 8))),
        size_(runtime.vector<std::int64_t>("the size of a trace", 2)) {}

  void give(const std::vector<std::byte>& all, std::uint32_t to) {
    {
      auto hold = flow_.acquire(write(size_));
      hold.get<0>()(0) = static_cast<std::int64_t>(all.size());
      hold.get<0>()(1) = static_cast<std::int64_t>(bytes_);
    }
    send(runtime_, size_, to, tag_of_traces);
    for (std::size_t at = 0; at < all.size(); at += bytes_) {
      {
        auto hold = flow_.acquire(write(chunk_));
        std::memcpy(hold.get<0>().data(), all.data() + at, std::min<std::size_t>(bytes_, all.size() - at));
      }
      send(runtime_, chunk_, to, tag_of_traces);
    }
  }
  std::vector<std::byte> take(std::uint32_t from) {
    receive(runtime_, size_, from, tag_of_traces);
    std::size_t size = 0, bytes = 0;
    {
      auto hold = flow_.acquire(read(size_));
      size = static_cast<std::size_t>(hold.get<0>()(0));
      bytes = static_cast<std::size_t>(hold.get<0>()(1));
    }
    // A different chunk size results from the other rank's memory size.
    const auto piece = bytes == bytes_ ? chunk_
                                       : runtime_.vector<std::int64_t>("a piece of a trace",
                                                                       static_cast<std::int64_t>(bytes / 8));
    std::vector<std::byte> all(size);
    for (std::size_t at = 0; at < size; at += bytes) {
      receive(runtime_, piece, from, tag_of_traces);
      auto hold = flow_.acquire(read(piece));
      std::memcpy(all.data() + at, hold.get<0>().data(), std::min(bytes, size - at));
    }
    return all;
  }

 private:
  Runtime& runtime_;
  Flow flow_;
  const std::size_t bytes_;
  const Handle<Vector<std::int64_t>> chunk_, size_;
};

std::string name_of_process(std::uint32_t rank) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return fmt::format("rank {}{}{}", rank, host[0] == '\0' ? "" : " on ", host.data());
}

}  // namespace

TracesOfRanks::TracesOfRanks(Runtime& runtime) : runtime_(runtime) {
  if (runtime.ranks() == 1) return;
  clock_ = clock_of(runtime);
  before_ = read_clocks(runtime, clock_);
}

std::vector<trace::Snapshot> TracesOfRanks::collect(trace::Snapshot own) {
  std::vector<trace::Snapshot> all;
  if (runtime_.ranks() > 1) own.process = name_of_process(runtime_.rank());
  all.push_back(std::move(own));
  if (runtime_.ranks() == 1) return all;
  clock_ = clock_of(runtime_);  // measure again: it runs faster or slower than the machine's clock
  const std::vector<ClockReading> after = read_clocks(runtime_, clock_);
  ChunkedTransfer pieces(runtime_);
  if (runtime_.rank() != 0) {
    pieces.give(trace::bytes_of(all[0]), 0);
    return all;
  }
  for (std::uint32_t rank = 1; rank < runtime_.ranks(); ++rank) {
    all.push_back(trace::snapshot_of(pieces.take(rank)));
    convert_to_rank0_time(all.back(), before_[rank], after[rank]);
  }
  return all;
}

void convert_to_rank0_time(trace::Snapshot& snapshot, const ClockReading& before, const ClockReading& after) {
  const auto set = [&](Time& at) { at = to_rank0_time(at, before, after); };
  // Convert both ends, so that adjacent records remain adjacent, to the nanosecond.
  const auto set_both = [&](auto& it) {
    Time end = it.end();
    set(it.start);
    set(end);
    it.duration = end - it.start;
  };
  for (trace::TaskRecord& task : snapshot.tasks) {
    Time start = task.start(), end = task.end();
    set(start);
    set(end);
    task.start_ns = start.count();
    task.set_duration(end - start);
  }
  for (trace::CopyRecord& copy : snapshot.copies) set_both(copy);
  for (trace::MemoryRecord& memory : snapshot.memory) set(memory.at);
  for (trace::WaitRecord& wait : snapshot.waits) set_both(wait);
  for (trace::TransferRecord& transfer : snapshot.transfers) set_both(transfer);
  for (trace::Phase& phase : snapshot.phases) {
    set(phase.start);
    set(phase.end);
  }
  if (snapshot.complete_from != Time{}) set(snapshot.complete_from);
}

}  // namespace fairlead::report
