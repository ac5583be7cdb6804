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
                                              .cancelled_context = nullptr};

template <class Number, class Value>
struct Numbered {
  Number number;
  Value value;
};
constexpr Numbered<fairlead_method, Method> numbered_methods[] = {
    {FAIRLEAD_AUTOMATIC, Method::automatic},
    {FAIRLEAD_CHOLESKY, Method::cholesky},
    {FAIRLEAD_LDLT, Method::ldlt},
    {FAIRLEAD_LU, Method::lu},
    {FAIRLEAD_LU_INCREMENTAL, Method::lu_incremental},
    {FAIRLEAD_LU_NOPIVOT, Method::lu_nopivot},
    {FAIRLEAD_QR, Method::qr}};
constexpr Numbered<fairlead_stored, Stored> numbered_stored[] = {{FAIRLEAD_BOTH, Stored::both},
                                                                 {FAIRLEAD_MEAN, Stored::mean},
                                                                 {FAIRLEAD_LOWER, Stored::lower},
                                                                 {FAIRLEAD_UPPER, Stored::upper}};

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
                 .method = value_of(numbered_methods, options.method, "method"),
                 .tile = options.tile,
                 .workers = options.workers,
                 .refine = options.refine != 0,
                 .condition = options.condition != 0,
                 .stored = value_of(numbered_stored, options.stored, "stored"),
                 .config = config_with(options.settings, options.setting_count)};
  if (options.required_digits != 0) read.solver.required_digits = options.required_digits;
  if (!(options.rank_tolerance < 0)) read.solver.rank_tolerance = options.rank_tolerance;
  if (options.cancelled != nullptr)
    read.is_cancelled = [cancelled = options.cancelled, context = options.cancelled_context] {
      return cancelled(context) != 0;
    };
  return read;
}

fairlead_method number_of(linalg::Method method) noexcept {
  for (const auto& one : numbered_methods)
    if (one.value == method) return one.number;
  return FAIRLEAD_AUTOMATIC;
}

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
  for (const auto& one : c::numbered_methods)
    if (one.number == method)
      return linalg::name_of(one.value).data();  // of a literal, which ends with a zero
  return nullptr;
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
