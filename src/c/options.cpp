// See options.hpp.
#include "c/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "c/status.hpp"
#include "c/versioned_struct.hpp"
#include "solver/load_kernels.hpp"
#include "solver/solver_options.hpp"

namespace fairlead::c {

namespace {

using linalg::Method;
using linalg::Stored;

constexpr fairlead_options default_options = {.struct_bytes = sizeof(fairlead_options),
                                              .memory_bytes = 0,
                                              .workers = 0,
                                              .method = FAIRLEAD_AUTOMATIC,
                                              .stored = FAIRLEAD_BOTH,
                                              .tile = 0,
                                              .refine = 0,
                                              .condition = 1,
                                              .required_digits = 0,
                                              .rank_tolerance = -1,
                                              .settings = nullptr,
                                              .setting_count = 0,
                                              .cancelled = nullptr,
                                              .cancelled_context = nullptr,
                                              .over_ranks = 0};

template <class Number, class Value>
struct Numbered {
  Number number;
  Value value;
};
constexpr Numbered<fairlead_stored, Stored> numbered_stored[] = {{FAIRLEAD_BOTH, Stored::both},
                                                                 {FAIRLEAD_MEAN, Stored::mean},
                                                                 {FAIRLEAD_LOWER, Stored::lower},
                                                                 {FAIRLEAD_UPPER, Stored::upper}};

/// The numbers of fairlead_method are those of Method, of which automatic has no entry in the table of methods.
static_assert(FAIRLEAD_AUTOMATIC == static_cast<int>(Method::automatic) &&
              FAIRLEAD_QR == static_cast<int>(Method::qr));
constexpr Method method_numbered(fairlead_method number) noexcept { return static_cast<Method>(number); }
bool is_method(fairlead_method number) noexcept {
  return number == FAIRLEAD_AUTOMATIC || (static_cast<std::size_t>(number) <= solver::all_methods().size() &&
                                          solver::operation_of(method_numbered(number)) != nullptr);
}
Method method_of(fairlead_method number) {
  if (is_method(number)) return method_numbered(number);
  throw UsageError(fmt::format("method is {}, which is none of fairlead_method", static_cast<int>(number)));
}

template <class Table, class Number>
auto value_of(const Table& table, Number number, const char* what) {
  for (const auto& one : table)
    if (one.number == number) return one.value;
  throw UsageError(
      fmt::format("{} is {}, which is none of fairlead_{}", what, static_cast<int>(number), what));
}

}  // namespace

Config config_with(const fairlead_setting* settings, std::size_t count) {
  Config config = Config::from_environment();
  if (count != 0) required(settings, "settings");
  for (std::size_t i = 0; i < count; ++i)
    config.set(required(settings[i].key, "the key of a setting"),
               required(settings[i].value, "the value of a setting"),
               SourceLine("fairlead_options", static_cast<std::uint32_t>(i + 1)));
  return config;
}

CallOptions options_of(const fairlead_options* given) {
  const fairlead_options options =
      given == nullptr ? default_options : read_versioned(*given, default_options, "options");
  CallOptions read;
  read.solver = {.memory = options.memory_bytes,
                 .method = method_of(options.method),
                 .tile = options.tile,
                 .workers = options.workers,
                 .refine = options.refine != 0,
                 .condition = options.condition != 0,
                 .stored = value_of(numbered_stored, options.stored, "stored"),
                 .config = config_with(options.settings, options.setting_count)};
  if (options.required_digits != 0) read.solver.required_digits = options.required_digits;
  if (!(options.rank_tolerance < 0)) read.solver.rank_tolerance = options.rank_tolerance;
  if (options.over_ranks != 0) read.solver.rank = &launched_rank;
  if (options.cancelled != nullptr)
    read.is_cancelled = [cancelled = options.cancelled, context = options.cancelled_context] {
      return cancelled(context) != 0;
    };
  return read;
}

fairlead_method number_of(linalg::Method method) noexcept { return static_cast<fairlead_method>(method); }

fairlead_element number_of(ElementType element) noexcept {
  if (is_complex(element)) return is_single(element) ? FAIRLEAD_COMPLEX64 : FAIRLEAD_COMPLEX128;
  return is_single(element) ? FAIRLEAD_FLOAT32 : FAIRLEAD_FLOAT64;
}

std::size_t elements_of(std::int64_t rows, std::int64_t right_hand_sides) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / std::int64_t{16};
  if (right_hand_sides < 1 || rows > most / right_hand_sides)
    throw UsageError(
        fmt::format("{} right-hand sides of {} elements: give at least one, and no more than memory holds",
                    right_hand_sides, rows));
  return static_cast<std::size_t>(rows * right_hand_sides);
}

}  // namespace fairlead::c

using namespace fairlead;

fairlead_status fairlead_options_init(fairlead_options* options, size_t options_bytes) {
  return c::status_of([&] { c::write_versioned(c::default_options, options, options_bytes, "options"); });
}

const char* fairlead_method_name(fairlead_method method) {
  if (!c::is_method(method)) return nullptr;
  return linalg::name_of(c::method_numbered(method)).data();  // of a literal, which ends with a zero
}

fairlead_status fairlead_kernels_name(const fairlead_options* options, char* text, size_t text_bytes) {
  return c::status_of([&] {
    c::required(text, "text");
    if (text_bytes == 0) throw UsageError("text_bytes is 0: the text needs at least its end");
    c::CallOptions read = c::options_of(options);
    if (read.solver.workers != 0) read.solver.config.set("workers", read.solver.workers);
    const std::string name = solver::name_of(solver::load_kernels_unchanged(read.solver.config));
    const std::size_t bytes = std::min(name.size(), text_bytes - 1);
    name.copy(text, bytes);
    text[bytes] = '\0';
  });
}
