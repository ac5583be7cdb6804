// See class_table.hpp: the numbers of a class, its names and its texts.
#include "front/ptg/class_table.hpp"

#include <fmt/format.h>

namespace fairlead::ptg {

std::string text_of(const ClassDefinition& definition) {
  return fmt::format("{}, defined at {}:{}", definition.name, definition.file, definition.line);
}

std::string where_said(const Alternative& places, const ClassDefinition& of) {
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
  std::uint64_t rest = its_name - first_name;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    values[i] = axes[i].first + static_cast<std::int64_t>(rest / axes[i].stride);
    rest %= axes[i].stride;
  }
}

std::string TableClass::text(const std::int32_t* values) const {
  std::string text = name + "(";
  for (std::size_t i = 0; i < parameters.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(values[called(i)]);
  return text + ")";
}

std::uint64_t TableClass::count(const std::atomic<bool>* stop) const {
  if (loops.empty()) return 1;
  Numbers at{};
  // Of the innermost loop how long it is; what follows from indices has one value each.
  std::size_t innermost = loops.size() - 1;
  while (innermost > 0 && loops[innermost].derived) --innermost;
  const std::vector<Loop> outer(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(innermost));
  std::uint64_t tasks = 0, fruitless = 0;
  SpaceWalk walk(stop);
  for (bool more = walk.begin(outer, at.data()); more; more = walk.next(outer, at.data())) {
    const std::uint64_t here = loops[innermost].count(at.data());
    fruitless = here == 0 ? fruitless + 1 : 0;
    if (fruitless >= Walk::most_fruitless) [[unlikely]]
      Walk::throw_fruitless();
    tasks += here;
  }
  return tasks;
}

}  // namespace fairlead::ptg
