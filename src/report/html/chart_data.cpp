// Encodes the trace records of a run compactly for the page: times in ticks, differences instead of values, varints.
// run/records.js decodes them and must be changed together with this file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "memory/replica.hpp"
#include "report/html/blocks.hpp"
#include "report/html/numbers.hpp"
#include "report/html/page.hpp"
#include "report/html/parts.hpp"
#include "report/lanes.hpp"

namespace fairlead::report::html {

namespace {

using trace::CopyRecord;
using trace::MemoryRecord;
using trace::Snapshot;
using trace::TaskRecord;
using trace::WaitRecord;

constexpr std::size_t most_copies = 40'000, most_waits = 40'000, most_memory = 20'000;
constexpr Bytes memory_unit = 4096;

/// The records of one worker, from records sorted by worker.
template <class Record>
std::span<const Record> of_worker(const std::vector<Record>& records, WorkerId worker, WorkerId Record::*of) {
  return {std::ranges::lower_bound(records, worker, {}, of),
          std::ranges::upper_bound(records, worker, {}, of)};
}

class Chart {
 public:
  Chart(const Snapshot& recorded, std::optional<double> disk_cap)
      : recorded_(recorded), disk_cap_(disk_cap), begin_(recorded.begin()) {
    // A tick is at most a hundred-millionth of the run, in powers of ten.
    const std::int64_t all = (recorded.end() - begin_).count();
    while (all / tick_ > 100'000'000) tick_ *= 10;
  }

  PictureData data() {
    tasks();
    waits();
    copies();
    memory();
    return {names(), numbers_.base64()};
  }

 private:
  std::int64_t ticks(Time at) const { return (at - begin_).count() / tick_; }
  /// Encodes the start relative to the previous end: small, and usually 0 for consecutive tasks.
  void interval(Time start, Time end, std::int64_t& last) {
    const std::int64_t from = ticks(start), to = ticks(end);
    numbers_.add_signed(from - last);
    numbers_.add(static_cast<std::uint64_t>(std::max<std::int64_t>(0, to - from)));
    last = std::max(from, to);
  }
  std::uint64_t datum(DatumId id) {
    const auto [at, fresh] = data_.try_emplace(id, data_.size());
    if (fresh) data_names_.add(Json(recorded_.data[index(id)].name));
    return at->second;
  }
  std::span<const TaskRecord> tasks_of(std::size_t worker) const {
    return of_worker(recorded_.tasks, static_cast<WorkerId>(worker), &TaskRecord::worker);
  }

  void tasks() {
    // Find the shortest span for which tasks must be merged.
    const auto blocks_at = [&](Duration together) {
      std::size_t count = 0;
      for (std::size_t i = 0; i < recorded_.workers.size(); ++i)
        count += blocks_of(tasks_of(i), together).size();
      return count;
    };
    if (recorded_.tasks.size() > most_shown_apart)
      for (together_ = Duration(1'000);
           blocks_at(together_) > most_shown_apart && together_ < recorded_.end();)
        together_ *= 2;
    for (std::size_t i = 0; i < recorded_.workers.size(); ++i) {
      const std::vector<TaskBlock> blocks = blocks_of(tasks_of(i), together_);
      numbers_.add(blocks.size());
      std::int64_t last = 0;
      Lanes lanes;
      for (const TaskBlock& block : blocks) {
        const TaskRecord& task = *block.longest;
        interval(block.start, block.end, last);
        numbers_.add(lanes.place(block.start, block.end));
        numbers_.add(std::uint64_t{task.codelet} * 4 + (task.failed() ? 2 : 0) + (block.count > 1 ? 1 : 0));
        if (block.count > 1) {
          numbers_.add(block.count);
          numbers_.add(static_cast<std::uint64_t>(block.busy.count() / tick_));
          continue;
        }
        numbers_.add(std::uint64_t{task.data_count} * 8 + (task.flags & 7u));
        for (std::size_t k = 0; k < task.kept(); ++k) numbers_.add(datum(task.data[k]));
      }
    }
  }

  void waits() {
    const auto& all = recorded_.waits;
    if (all.size() > most_waits) {
      std::vector<Duration> lengths;
      for (const WaitRecord& wait : all) lengths.push_back(wait.duration);
      const auto last_drawn = lengths.begin() + static_cast<std::ptrdiff_t>(most_waits);
      std::ranges::nth_element(lengths, last_drawn, std::greater<>());
      shortest_wait_ = *last_drawn + Duration(1);
    }
    for (std::size_t i = 0; i < recorded_.workers.size(); ++i) {
      std::vector<const WaitRecord*> drawn;
      for (const WaitRecord& wait : of_worker(all, static_cast<WorkerId>(i), &WaitRecord::worker))
        if (wait.duration >= shortest_wait_) drawn.push_back(&wait);
      numbers_.add(drawn.size());
      std::int64_t last = 0;
      for (const WaitRecord* wait : drawn) {
        interval(wait->start, wait->end(), last);
        numbers_.add(wait->reason == WaitRecord::For::data ? 1 : 0);
      }
    }
  }

  /// By direction; if there are too many, consecutive copies of one cause are merged.
  void copies() {
    using Direction = std::pair<LinkId, bool>;
    std::map<Direction, std::vector<const CopyRecord*>> directions;
    for (const CopyRecord& copy : recorded_.copies)
      directions[{copy.link, !copy.away_from_home}].push_back(&copy);
    const std::size_t joined = (recorded_.copies.size() + most_copies - 1) / most_copies;
    copies_joined_ = joined;
    for (const auto& [direction, list] : directions) {
      directions_.add(Json(trace::direction_text(recorded_, *list.front())));
      struct Drawn {
        Time start, end;
        Bytes bytes;
        std::uint64_t count;
        const CopyRecord* first;
      };
      std::vector<Drawn> drawn;
      std::array<std::size_t, memory::cause_count> open{};  // position + 1 in drawn
      for (const CopyRecord* copy : list) {
        std::size_t& of_cause = open[copy->cause];
        if (of_cause != 0 && drawn[of_cause - 1].count < joined && !copy->failed) {
          Drawn& one = drawn[of_cause - 1];
          one.end = std::max(one.end, copy->end());
          one.bytes += copy->bytes;
          ++one.count;
          continue;
        }
        drawn.push_back({copy->start, copy->end(), copy->bytes, 1, copy});
        of_cause = drawn.size();
      }
      numbers_.add(drawn.size());
      std::int64_t last = 0;
      Lanes lanes;
      for (const Drawn& one : drawn) {
        interval(one.start, one.end, last);
        numbers_.add(lanes.place(one.start, one.end));
        const bool passes = one.count == 1 && !trace::is_whole_way(recorded_, *one.first);
        numbers_.add(one.first->cause * 8u + (passes ? 4u : 0u) + (one.first->failed ? 2u : 0u) +
                     (one.count > 1 ? 1u : 0u));
        numbers_.add(one.bytes);
        numbers_.add(one.count > 1 ? one.count : datum(one.first->datum));
        if (!passes) continue;
        numbers_.add(index(one.first->from));
        numbers_.add(index(one.first->to));
      }
    }
  }

  /// If there are too many changes, keeps the last one of each group.
  void memory() {
    const std::size_t stride = (recorded_.memory.size() + most_memory - 1) / most_memory;
    for (std::size_t i = 0; i < recorded_.nodes.size(); ++i) {
      std::vector<const MemoryRecord*> all, drawn;
      for (const MemoryRecord& record : recorded_.memory)
        if (record.node == static_cast<NodeId>(i)) all.push_back(&record);
      for (std::size_t k = 0; k < all.size(); ++k)
        if (k % stride == stride - 1 || k + 1 == all.size()) drawn.push_back(all[k]);
      numbers_.add(drawn.size());
      std::int64_t last = 0;
      for (const MemoryRecord* record : drawn) {
        const std::int64_t at = std::max<std::int64_t>(0, ticks(record->at));
        numbers_.add_signed(at - last);
        last = at;
        for (const Bytes bytes : {record->by_tasks, record->prefetched, record->leaving, record->cached})
          numbers_.add(bytes / memory_unit);
      }
    }
  }

  /// Notes for the reader of the page about what it omits.
  Json notes() const {
    Json all = Json::array();
    if (together_ != Duration{})
      all.add(fmt::format("{} tasks: those shorter than {} us are drawn together, by the longest among them.",
                          recorded_.tasks.size(), together_.count() / 1000));
    if (shortest_wait_ > Duration(1))
      all.add(fmt::format("Waits shorter than {:.3g} us are not drawn.",
                          static_cast<double>(shortest_wait_.count()) * 1e-3));
    if (copies_joined_ > 1)
      all.add(fmt::format("{} copies: up to {} of one cause in a row are drawn as one.",
                          recorded_.copies.size(), copies_joined_));
    if (const std::string missing = trace::dropped_text(recorded_); !missing.empty()) all.add(missing);
    return all;
  }

  std::string names() {
    const auto list = [](const std::vector<std::string>& texts) {
      Json all = Json::array();
      for (const std::string& text : texts) all.add(Json(text));
      return all;
    };
    Json nodes = Json::array(), phases = Json::array(), causes = Json::array();
    for (const Snapshot::Node& node : recorded_.nodes)
      nodes.add(Json::object({{"name", node.name}, {"capacity", node.capacity}}));
    for (const trace::Phase& phase : recorded_.phases)
      phases.add(
          Json::object({{"name", phase.name}, {"start", ticks(phase.start)}, {"end", ticks(phase.end)}}));
    for (std::size_t i = 0; i < memory::cause_count; ++i)
      causes.add(Json(name_of(static_cast<memory::Cause>(i))));
    return embedded(Json::object({{"tick_ns", tick_},
                                  {"begin_ns", begin_.count()},
                                  {"end", ticks(recorded_.end())},
                                  {"tasks", recorded_.tasks.size()},
                                  {"memory_unit", memory_unit},
                                  {"disk_cap", disk_cap_.value_or(0)},
                                  {"workers", list(recorded_.workers)},
                                  {"codelets", list(recorded_.codelets)},
                                  {"nodes", std::move(nodes)},
                                  {"directions", std::move(directions_)},
                                  {"causes", std::move(causes)},
                                  {"phases", std::move(phases)},
                                  {"notes", notes()},
                                  {"data", std::move(data_names_)}}));
  }

  const Snapshot& recorded_;
  const std::optional<double> disk_cap_;  // bytes per second, both directions together
  const Time begin_;
  std::int64_t tick_ = 1;
  Numbers numbers_;
  std::map<DatumId, std::size_t> data_;  // their numbers on the page
  Json data_names_ = Json::array(), directions_ = Json::array();
  Duration together_{}, shortest_wait_{1};
  std::size_t copies_joined_ = 1;
};

}  // namespace

PictureData chart_data(const Snapshot& recorded, std::optional<double> disk_cap) {
  return Chart(recorded, disk_cap).data();
}

}  // namespace fairlead::report::html
