// Compares all uses of each datum pairwise, within a limit.
#include "front/unrolled/memory_uses.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace fairlead::unrolled {

MemoryUses::MemoryUses(const TaskGraph& graph, const Ports& ports, const Edges& edges, const Values& values,
                       Findings& findings)
    : graph_(graph), ports_(ports), edges_(edges), values_(values), findings_(findings) {
  for (Port port = 0; port < ports.size(); ++port) {
    const FlowAccess access = graph.flow(ports.task(port), ports.flow(port)).access;
    if (access != FlowAccess::control && values.is_of_memory(values.in[port]))
      readers_.push_back({values.place(values.in[port]), access != FlowAccess::read, port, false});
  }
  std::ranges::stable_sort(readers_, [](const Reader& a, const Reader& b) {
    return a.place != b.place ? a.place < b.place : a.changes > b.changes;
  });
}

/// Calls f(first reader, past the last, first writer, past the last) for each datum that is used.
template <class F>
void MemoryUses::each_place(F&& f) {
  std::size_t r = 0, w = 0;
  while (r < readers_.size() || w < values_.written.size()) {
    const std::uint32_t place = std::min(r < readers_.size() ? readers_[r].place : none,
                                         w < values_.written.size() ? values_.written[w].place : none);
    std::size_t r_end = r, w_end = w;
    while (r_end < readers_.size() && readers_[r_end].place == place) ++r_end;
    while (w_end < values_.written.size() && values_.written[w_end].place == place) ++w_end;
    f(r, r_end, w, w_end);
    r = r_end;
    w = w_end;
  }
}

bool MemoryUses::take_budget(std::size_t pairs) {
  if (pairs <= pairs_left_) {
    pairs_left_ -= pairs;
    return true;
  }
  findings_.add(Kind::not_checked, "a place in memory that too many tasks use");
  return false;
}

const EdgeEnd& MemoryUses::input(Port port) const { return graph_.inputs[edges_.inputs.given[port]]; }

std::uint32_t MemoryUses::part(Port port) const { return input(port).part; }

std::string MemoryUses::describe(Port port, const EdgeEnd& end) const {
  return fmt::format("{} ({})", label(graph_, ports_.task(port), ports_.flow(port)), graph_.where(end));
}

std::vector<Precedence> MemoryUses::overwriting_steps(PartialOrder& order) {
  std::vector<Precedence> out;
  each_place([&](std::size_t begin, std::size_t end, std::size_t first_written, std::size_t past_written) {
    std::size_t readers = begin;
    while (readers < end && readers_[readers].changes) ++readers;
    const bool written_back = first_written != past_written;
    if (!take_budget((readers - begin) * (end - begin))) return;
    for (std::size_t i = begin; i < readers; ++i)
      for (std::size_t j = i + 1; j < readers; ++j) {
        if (part(readers_[i].port) != part(readers_[j].port)) continue;
        const TaskId a = ports_.task(readers_[i].port), b = ports_.task(readers_[j].port);
        const std::optional<bool> forth = order.comes_before(a, b), back = order.comes_before(b, a);
        if (!forth || !back)
          findings_.add(Kind::not_checked, "whether two writers of a value have an order");
        else if (a == b || (!*forth && !*back)) {
          if (!findings_.needs_text(Kind::two_writers)) {
            findings_.count(Kind::two_writers);
            continue;
          }
          findings_.add(Kind::two_writers, fmt::format("what is in {} is changed by {} and by {}",
                                                       label(graph_, input(readers_[i].port)),
                                                       describe(readers_[i].port, input(readers_[i].port)),
                                                       describe(readers_[j].port, input(readers_[j].port))));
        }
      }
    for (std::size_t i = begin; i < readers; ++i)
      for (std::size_t j = readers; j < end; ++j) {
        if (part(readers_[i].port) != part(readers_[j].port)) continue;
        const TaskId writer = ports_.task(readers_[i].port), reader = ports_.task(readers_[j].port);
        if (writer == reader) {
          findings_.add(Kind::reads_own_overwrite,
                        fmt::format("{} is also {}", describe(readers_[j].port, input(readers_[j].port)),
                                    describe(readers_[i].port, input(readers_[i].port))));
        } else if (written_back && order.comes_before(writer, reader).value_or(false)) {
          readers_[j].later = true;
        } else {
          out.push_back({reader, writer, true});
        }
      }
  });
  return out;
}

/// Finds, for each port, the datum from which its value was first read, through all tasks that changed it.
void MemoryUses::find_origins() {
  constexpr std::uint32_t unknown = none - 1;
  origins_.assign(ports_.size(), unknown);
  std::vector<Port> way;
  for (Port port = 0; port < ports_.size(); ++port) {
    std::uint32_t origin = none;
    way.clear();
    for (Port at = port;; at = values_.in[at]) {
      if (origins_[at] != unknown) {
        origin = origins_[at];
        break;
      }
      origins_[at] = none;
      way.push_back(at);
      if (values_.in[at] == none) break;
      if (!values_.is_of_memory(values_.in[at])) continue;
      origin = values_.place(values_.in[at]);
      break;
    }
    for (const Port at : way) origins_[at] = origin;
  }
}

void MemoryUses::check_races(PartialOrder& order) {
  find_origins();
  each_place([&](std::size_t begin, std::size_t end, std::size_t first_written, std::size_t past_written) {
    writes(first_written, past_written, order);
    if (!take_budget((end - begin) * (past_written - first_written))) return;
    for (std::size_t i = first_written; i < past_written; ++i) reads(begin, end, values_.written[i], order);
  });
}

void MemoryUses::writes(std::size_t begin, std::size_t end, PartialOrder& order) {
  std::vector<MemoryWrite> uses(values_.written.begin() + static_cast<std::ptrdiff_t>(begin),
                                values_.written.begin() + static_cast<std::ptrdiff_t>(end));
  std::ranges::stable_sort(uses, {}, [&](const MemoryWrite& it) { return order.rank(ports_.task(it.port)); });
  for (std::size_t i = 0; i < uses.size(); ++i)
    for (std::size_t j = i + 1; j < uses.size(); ++j) {
      const EdgeEnd &a = graph_.outputs[uses[i].end], &b = graph_.outputs[uses[j].end];
      // for example two triangles of one tile
      if (a.part != b.part && a.part != none && b.part != none) continue;
      const std::optional<bool> ordered =
          a.task == b.task ? a.flow == b.flow : order.comes_before(a.task, b.task);
      if (!ordered)
        findings_.add(Kind::not_checked, "whether two that write a place have an order");
      else if (!*ordered) {
        if (findings_.needs_text(Kind::unordered_writes))
          findings_.add(Kind::unordered_writes,
                        fmt::format("{} is written by {} and by {}", label(graph_, a),
                                    describe(uses[i].port, a), describe(uses[j].port, b)));
        else
          findings_.count(Kind::unordered_writes);
      }
      break;  // later ones are compared with the next
    }
}

void MemoryUses::reads(std::size_t begin, std::size_t end, const MemoryWrite& written, PartialOrder& order) {
  const TaskId writer = ports_.task(written.port);
  // The value written back was read from this datum: its other readers precede the task that changes it.
  const bool changed = origins_[written.port] == written.place && begin < end && readers_[begin].changes;
  const bool one_changes = changed && (begin + 1 == end || !readers_[begin + 1].changes);
  for (std::size_t i = begin; i < end; ++i) {
    const Reader& reader = readers_[i];
    const TaskId task = ports_.task(reader.port);
    const bool in_order = reader.changes ? one_changes : changed && !reader.later;
    const std::uint32_t read = part(reader.port), write = graph_.outputs[written.end].part;
    const bool apart = read != write && read != none && write != none;
    if (task == writer || in_order || apart) continue;
    const std::optional<bool> before = order.comes_before(task, writer),
                              after = order.comes_before(writer, task);
    if (!before || !after) {
      findings_.add(Kind::not_checked, "whether two that use a place have an order");
    } else if (!*before && !*after) {
      const EdgeEnd& output = graph_.outputs[written.end];
      if (findings_.needs_text(Kind::race))
        findings_.add(Kind::race,
                      fmt::format("{} is read by {} and written by {}", label(graph_, output),
                                  describe(reader.port, input(reader.port)), describe(written.port, output)));
      else
        findings_.count(Kind::race);
    }
  }
}

}  // namespace fairlead::unrolled
