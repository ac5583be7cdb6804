// See body_run.hpp.
#include "front/jdf_graph/body_run.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>

namespace fairlead::jdf {

namespace {

using fairlead::detail::TileArgument;
using fairlead::detail::TileFunction;
using fairlead::detail::TilePart;

/// The characters that such an argument accepts; empty if it is no character.
std::string_view letters_of(char argument) {
  switch (argument) {
    case 's':
      return "LR";
    case 't':
      return "NTC";
    case 'u':
      return "LU";
    case 'U':
      return "LUA";
    case 'd':
      return "NU";
    default:
      return {};
  }
}

}  // namespace

BodyRun::BodyRun(const RunnableJdf& program, const Constants& constants, std::uint32_t task_class,
                 std::span<const std::int64_t> parameters, std::span<const TileArgument> tiles,
                 std::span<const TilePrecision> elements)
    : program_(program),
      class_(program.file.classes[task_class]),
      body_(program.bodies[task_class]),
      parameters_(parameters),
      tiles_(tiles),
      elements_(elements),
      evaluator_(program.file, program.settings, &constants),
      row_(body_.slots),
      slots_(row_.all()) {
  const std::vector<bool>& needed = program.needed[task_class];
  for (const Definition& it : class_.definitions) {
    if (it.parameter != unbound_index)
      slots_[it.slot] = Value::of(parameters[it.parameter]);
    else
      slots_[it.slot] = needed[it.slot] ? derived(it) : Value::unknown();
  }
}

Value BodyRun::derived(const Definition& it) {
  try {
    return Value::of_int(evaluator_.integer(it.value, slots_));
  } catch (const EvaluationError& error) {
    if (error.kind() != EvaluationError::Kind::needs_c) throw;
    return Value::unknown();  // an error only where it is used
  }
}

void BodyRun::run(const linalg::Kernels& kernels) {
  kernels_ = &kernels;
  load_pointed();
  all(body_.top_level);
}

BodyRun::OperationCount BodyRun::count_operations() {
  kernels_ = nullptr;
  for (const InterpretedBody::Pointer& it : body_.pointers) slots_[it.slot] = Value::of_int(0);
  all(body_.top_level);
  return amount_;
}

std::optional<double> BodyRun::property_value(ExpressionId property) {
  if (property == no_expression) return std::nullopt;
  try {
    return evaluator_.value(property, slots_).real();
  } catch (const EvaluationError&) {
    return std::nullopt;
  }
}

void BodyRun::load_pointed() {
  for (const InterpretedBody::Pointer& it : body_.pointers)
    slots_[it.slot] = Value::of_int(program_.pointed[it.global].load());
}

BodyRun::ControlFlow BodyRun::all(const std::vector<StatementId>& statements) {
  for (const StatementId id : statements)
    if (one(body_.statements[id]) == ControlFlow::over) return ControlFlow::over;
  return ControlFlow::on;
}

BodyRun::ControlFlow BodyRun::one(const Statement& it) {
  if (kernels_ != nullptr && !body_.pointers.empty()) load_pointed();
  switch (it.kind) {
    case Statement::Kind::assign:
      if (it.call != unbound_index)
        slots_[it.slot] = Value::of_int(call(body_.calls[it.call]));
      else if (it.real)
        slots_[it.slot] = Value::of_double(evaluator_.value(it.value, slots_).real());
      else
        slots_[it.slot] = Value::of_int(evaluator_.integer(it.value, slots_));
      break;
    case Statement::Kind::assign_pointer:
      point(it);
      break;
    case Statement::Kind::call: {
      const BodyCall& called = body_.calls[it.call];
      if (call(called) != 0) throw NumericalError(failure_);
      break;
    }
    case Statement::Kind::branch:
      return all(evaluator_.truth(it.value, slots_) ? it.first : it.second);
    case Statement::Kind::leave:
      return ControlFlow::over;
  }
  return ControlFlow::on;
}

void BodyRun::point(const Statement& it) {
  const std::int32_t value = evaluator_.integer(it.value, slots_);
  const InterpretedBody::Pointer& pointer = body_.pointers[it.pointer];
  slots_[pointer.slot] = Value::of_int(value);
  if (kernels_ == nullptr) return;
  const std::int32_t before = program_.pointed[pointer.global].exchange(value);
  const Global& global = program_.file.globals[pointer.global];
  // Tasks that depend on this one would compute with meaningless values.
  if (is_info_global(global) && value != 0 && before == 0)
    throw NumericalError(fmt::format("{}: {} sets {} to {}{}{}",
                                     program_.file.source.where(program_.file.at(it.value).where), task(),
                                     global.name.text, value, failure_.empty() ? "" : ": ", failure_));
}

int BodyRun::call(const BodyCall& it) {
  const TileFunction& function = *it.function;
  std::array<TileArgument, TileFunction::most_arguments> arguments{};
  TilePrecision precision = it.precision;
  for (std::size_t i = 0; i < it.arguments.size(); ++i) {
    const BodyCall::Argument& from = it.arguments[i];
    if (from.flow != unbound_index) {
      arguments[i] = tiles_[from.flow];
      if (precision == TilePrecision::any) precision = elements_[from.flow];
      continue;
    }
    const Value value = evaluator_.value(from.value, slots_);
    arguments[i].real = value.real();
    arguments[i].integer = value.is_real() ? static_cast<std::int64_t>(value.real()) : value.integer();
    const std::string_view letters = letters_of(function.arguments[i]);
    if (!letters.empty() && letters.find(static_cast<char>(arguments[i].integer)) == std::string_view::npos)
      throw UsageError(fmt::format("{} is given {} in place of one of the letters {}",
                                   where(program_.file.at(from.value).where), value.text(), letters));
  }
  const fairlead::detail::TileArguments given(arguments.data(), it.arguments.size());
  std::array<TilePart, TileFunction::most_tiles> parts{};
  const std::size_t count = function.parts(given, parts.data());
  const auto is_empty = [](const TilePart& part) { return part.rows <= 0 || part.columns <= 0; };
  // An input may be empty while an output changes: an empty product still scales C.
  const bool changes_nothing = std::all_of(parts.begin(), parts.begin() + count, [&](const TilePart& part) {
    return function.arguments[part.argument] != 'w' || is_empty(part);
  });
  std::int64_t side = INT64_MAX;
  for (std::size_t i = 0; i < count; ++i) {
    const TilePart& part = parts[i];
    const TileArgument& tile = arguments[part.argument];
    side = std::min({side, part.rows, part.columns});
    if (kernels_ == nullptr || changes_nothing) continue;
    if (part.rows < 0 || part.columns < 0)
      throw UsageError(fmt::format("{} of {}: the sizes {} x {} of {} are negative", where(it.where), task(),
                                   part.rows, part.columns,
                                   class_.flows[it.arguments[part.argument].flow].name.text));
    if (!is_empty(part) && (part.rows > tile.rows || part.columns > tile.columns))
      throw UsageError(
          fmt::format("{} of {} uses {} x {} of {}, which {}", where(it.where), task(), part.rows,
                      part.columns, class_.flows[it.arguments[part.argument].flow].name.text,
                      tile.rows == 0 ? "has no value here"
                                     : fmt::format("is a tile of {} x {}", tile.rows, tile.columns)));
    const bool has_distance =
        part.argument + 1 < function.arguments.size() && function.arguments[part.argument + 1] == 'l';
    if (const std::int64_t distance = arguments[part.argument + 1].integer;
        has_distance && distance < std::max<std::int64_t>(part.rows, 1))
      throw UsageError(fmt::format("{} of {}: columns are {} apart, and have {} rows", where(it.where),
                                   task(), distance, part.rows));
  }
  amount_.flops += function.flops(given);
  if (count != 0 && side > 0)
    amount_.side =
        amount_.side == 0 ? static_cast<double>(side) : std::min(amount_.side, static_cast<double>(side));
  if (kernels_ == nullptr || (count != 0 && changes_nothing)) return 0;
  const int result = precision == TilePrecision::single ? function.in_single(*kernels_, given)
                                                        : function.in_double(*kernels_, given);
  if (result != 0)
    failure_ = fmt::format("{} of {} returns {}: {}", where(it.where), task(), result, function.failure);
  return result;
}

std::string BodyRun::where(SourceRange range) const {
  const std::string_view text = program_.file.source.text(range);
  return fmt::format("{}: {}", program_.file.source.where(range), text.substr(0, text.find('(')));
}

std::string BodyRun::task() const {
  return fmt::format("{}({})", class_.name.text, fmt::join(parameters_, ", "));
}

}  // namespace fairlead::jdf
