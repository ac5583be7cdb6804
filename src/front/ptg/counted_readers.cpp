// Finds the flows with counted readers, by fixed-point iteration over the class table.
#include "front/ptg/counted_readers.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace fairlead::ptg {

namespace {

class ReadersToCount {
 public:
  explicit ReadersToCount(ClassTable& table) : table_(table) {}
  void find() {
    find_contested();
    find_counted();
    find_who_may_count();
  }

 private:
  /// True if the flow, or one that passes its value on unchanged, gives the value to a task that changes it.
  bool reaches_writer(std::size_t number, std::size_t flow,
                      std::set<std::pair<std::size_t, std::size_t>>& seen) {
    if (!seen.insert({number, flow}).second) return false;
    for (const ClassEdge& edge : table_.classes[number].flows[flow].edges) {
      if (table_.classes[edge.to_class].flows[edge.to_flow].control) continue;
      if (edge.to_writer || reaches_writer(edge.to_class, edge.to_flow, seen)) return true;
    }
    return false;
  }
  bool reaches_writer(std::size_t number, std::size_t flow) {
    std::set<std::pair<std::size_t, std::size_t>> seen;
    return reaches_writer(number, flow, seen);
  }

  template <class F>
  void for_each_flow(F&& f) {
    for (std::size_t i = 0; i < table_.classes.size(); ++i)
      for (std::size_t k = 0; k < table_.classes[i].data_flows; ++k) f(i, k, table_.classes[i].flows[k]);
  }

  void find_contested() {
    std::vector<std::size_t> takers(table_.collections.size());
    std::vector<bool> readers(table_.collections.size()), writers(table_.collections.size());
    for_each_flow([&](std::size_t i, std::size_t k, const TableFlow& flow) {
      for (const Input& input : flow.inputs) {
        const std::uint32_t of = input.memory.collection;
        if (input.kind == Place::Kind::home) writers[of] = true;
        if (input.kind != Place::Kind::memory) continue;
        if (writes(flow.mode)) writers[of] = true;
        if (!writes(flow.mode)) readers[of] = true;
        if (!writes(flow.mode) && reaches_writer(i, k)) writers[of] = true;
      }
    });
    table_.has_memory_conflicts.resize(table_.collections.size());
    for (std::size_t i = 0; i < table_.collections.size(); ++i)
      table_.has_memory_conflicts[i] = readers[i] && writers[i];
    for_each_flow([&](std::size_t i, std::size_t, const TableFlow& flow) {
      for (const Input& input : flow.inputs)
        table_.classes[i].may_await_memory |= input.kind == Place::Kind::memory && writes(flow.mode) &&
                                              table_.has_memory_conflicts[input.memory.collection];
    });
  }

  void find_counted() {
    for_each_flow([&](std::size_t i, std::size_t k, TableFlow& flow) {
      bool readers = false;
      for (const ClassEdge& edge : flow.edges) {
        const TableFlow& to = table_.classes[edge.to_class].flows[edge.to_flow];
        if (to.control) continue;
        readers |= !writes(to.mode);
      }
      flow.counted = (table_.has_write_backs && !flow.control) || (readers && reaches_writer(i, k));
      for (const Input& input : flow.inputs) {
        flow.counted |= input.kind == Place::Kind::fresh;
        flow.counted |= input.kind == Place::Kind::memory &&
                        table_.has_memory_conflicts[input.memory.collection] && !writes(flow.mode);
      }
    });
    // A flow that may hold a fresh datum passes that on.
    for (bool changed = true; std::exchange(changed, false);)
      for_each_flow([&](std::size_t, std::size_t, TableFlow& flow) {
        for (const Input& input : flow.inputs) {
          if (flow.counted || input.kind != Place::Kind::task) continue;
          const TableFlow& from = table_.classes[input.from_class].flows[input.from_flow];
          if (!from.counted || !may_be_fresh(from, {})) continue;
          flow.counted = changed = true;
        }
      });
  }
  /// Counted values originate in flows that change them, and pass through flows that only read them.
  void find_who_may_count() {
    for_each_flow([&](std::size_t, std::size_t, TableFlow& flow) { flow.may_count = flow.counted; });
    for (bool changed = true; std::exchange(changed, false);)
      for_each_flow([&](std::size_t, std::size_t, TableFlow& flow) {
        if (flow.may_count) return;
        for (const Input& input : flow.inputs)
          if (input.kind == Place::Kind::task &&
              table_.classes[input.from_class].flows[input.from_flow].may_count)
            flow.may_count = changed = true;
      });
  }
  bool may_be_fresh(const TableFlow& flow, std::set<const TableFlow*> seen) const {
    if (!seen.insert(&flow).second) return false;
    return std::ranges::any_of(flow.inputs, [&](const Input& input) {
      return input.kind == Place::Kind::fresh ||
             (input.kind == Place::Kind::task &&
              may_be_fresh(table_.classes[input.from_class].flows[input.from_flow], seen));
    });
  }

  ClassTable& table_;
};

}  // namespace

void count_readers(ClassTable& table) { ReadersToCount(table).find(); }

}  // namespace fairlead::ptg
