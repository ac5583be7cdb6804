// Keys, counts and texts of the classes in a table.
#include "front/ptg/class_table.hpp"

#include <fmt/format.h>

namespace fairlead::ptg {

std::string text_of(const ClassDefinition& definition) {
  const std::string line =
      fmt::format("{}, defined at {}:{}", definition.name, definition.file, definition.line);
  return definition.column == 0 ? line : fmt::format("{}:{}", line, definition.column);
}

std::string source_line_of(const Alternative& places, const ClassDefinition& of) {
  if (!places.where) return text_of(of);
  const std::string line = fmt::format("{}:{}", places.where->file_name(), places.where->line());
  return places.column == 0 ? line : fmt::format("{}:{}", line, places.column);
}

bool TableFlow::comes_surely_from_task() const {
  if (control)
    return std::ranges::any_of(inputs,
                               [](const Input& input) { return !input.condition && input.ranges.empty(); });
  return !inputs.empty() && !inputs.back().condition &&
         std::ranges::all_of(inputs, [](const Input& input) { return input.kind == Place::Kind::task; });
}

bool TableClass::waits_for_one() const {
  std::size_t count = 0;
  for (const TableFlow& flow : flows) {
    const bool from_task =
        std::ranges::any_of(flow.inputs, [](const Input& input) { return input.kind == Place::Kind::task; });
    if (flow.control && from_task) return false;
    count += from_task;
  }
  return count <= 1;
}

void TableClass::parameters_of(std::uint64_t its_name, std::int64_t* values) const noexcept {
  std::uint64_t rest = its_name - first_key;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    values[i] = axes[i].first + static_cast<std::int64_t>(rest / axes[i].stride);
    rest %= axes[i].stride;
  }
}

std::string TableClass::text(const std::int32_t* values) const {
  std::string text = name + "(";
  for (std::size_t i = 0; i < parameters.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(values[display_index(i)]);
  return text + ")";
}

void throw_in(const TableClass& of, const UsageError& error) {
  if (dynamic_cast<const WalkStopped*>(&error) != nullptr) throw WalkStopped();
  const std::string what = error.what(), where = text_of(*of.definition);
  throw UsageError(what.find(where) == std::string::npos ? fmt::format("{} ({})", what, where) : what);
}

std::uint64_t TableClass::count(const std::atomic<bool>* stop) const try {
  if (loops.empty()) return 1;
  Numbers at{};
  // The innermost loop is counted, not iterated. Derived indices inside it have one value each.
  std::size_t innermost = loops.size() - 1;
  while (innermost > 0 && loops[innermost].derived) --innermost;
  const std::vector<Loop> outer(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(innermost));
  std::uint64_t tasks = 0, fruitless = 0;
  StoppableWalk walk(stop);
  for (bool more = walk.begin(outer, at.data()); more; more = walk.next(outer, at.data())) {
    const std::uint64_t here = loops[innermost].count(at.data());
    fruitless = here == 0 ? fruitless + 1 : 0;
    if (fruitless >= Walk::most_empty_steps) [[unlikely]]
      Walk::throw_fruitless();
    tasks += here;
  }
  return tasks;
} catch (const UsageError& error) {
  throw_in(*this, error);
}

}  // namespace fairlead::ptg
