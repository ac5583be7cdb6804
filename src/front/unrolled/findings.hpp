// Errors and warnings of an unrolled graph: each kind is counted, and the texts of the first few are kept.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::unrolled {

/// The kinds of findings. Those before dead_end are errors.
enum class Kind : std::uint8_t {
  no_task,              // the graph is empty
  duplicate_task,       // two tasks of the same class and parameters
  one_sided,            // only one end states the edge
  missing_producer,     // an input from a task that does not exist, or that has no such value
  no_input,             // a flow that reads has no input that applies
  duplicate_output,     // the same output stated twice
  two_writers,          // two tasks change one value
  reads_own_overwrite,  // a task has a value by two flows and changes it by one of them
  cycle,
  unordered_writes,  // two tasks write one datum without an order
  race,              // a datum is read and written without an order
  on_another_rank,   // a datum is read by a task that runs on another rank
  out_of_bounds,     // a datum that its collection does not have
  never_written,     // a NEW value is read before any task has written it
  dead_end,          // a warning: an output to a task that does not exist
  lost_result,       // a warning: a task changes a value that has no output
  shadowed_input,    // a warning: an input behind an alternative that holds and applies
  not_checked,       // a note: a check was skipped because it would take too long
};
inline constexpr std::size_t kind_count = 18;

/// For example, "cycles".
std::string_view title(Kind kind) noexcept;
/// False for warnings and notes: the graph is usable.
bool is_error(Kind kind) noexcept;

/// The findings of one check.
class Findings {
 public:
  explicit Findings(std::size_t most_of_a_kind = 5) : most_(most_of_a_kind) {}

  /// True if the text of another finding of this kind would be kept. Otherwise count() is enough.
  bool needs_text(Kind kind) const noexcept { return texts_[index(kind)].size() < most_; }
  /// Counts a finding; keeps `text` if wants(kind).
  void add(Kind kind, std::string text);
  /// Counts findings without texts.
  void count(Kind kind, std::size_t more = 1) { counts_[index(kind)] += more; }

  std::size_t count_of(Kind kind) const noexcept { return counts_[index(kind)]; }
  const std::vector<std::string>& texts(Kind kind) const noexcept { return texts_[index(kind)]; }
  std::size_t errors() const noexcept;
  std::size_t warnings() const noexcept {
    return count_of(Kind::dead_end) + count_of(Kind::lost_result) + count_of(Kind::shadowed_input);
  }

  /// The report for users; empty if there are no findings.
  std::string text() const;

 private:
  static std::size_t index(Kind kind) noexcept { return static_cast<std::size_t>(kind); }

  std::size_t most_;
  std::array<std::size_t, kind_count> counts_{};
  std::array<std::vector<std::string>, kind_count> texts_;
};

}  // namespace fairlead::unrolled
