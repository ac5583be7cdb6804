// What is wrong with a graph: each kind is counted, and the first few of it are told.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::unrolled {

enum class Kind : std::uint8_t {
  no_task,               // the graph is empty
  duplicate_task,        // the same class and parameters twice
  one_sided,             // only one end of an edge knows of it
  nobody_makes,          // an input from a task that is not there, or that has no such value
  never_given,           // an input of a task that nobody gives
  given_twice,           // an output sent twice
  two_writers,           // of one value
  reader_beside_writer,  // one task has a value twice and changes it by one of them
  cycle,
  unordered_writes,  // of one place in memory
  race,              // a place is read while, perhaps, it is written
  on_another_rank,   // a place is read by a task that runs elsewhere
  outside,           // a place that its collection does not have
  never_written,     // NEW is read before a task has written it
  dead_end,          // a warning: an output to a task that is not there
  goes_nowhere,      // a warning: a task changes a value, and no output takes it anywhere
  overlap,           // a warning: an input behind another that holds, which counts
  not_looked_at,     // a note: what was left out, to end in time
};
inline constexpr std::size_t kind_count = 18;

/// "edges of which only one end knows".
std::string_view title(Kind kind) noexcept;
/// Warnings leave the graph usable.
bool is_error(Kind kind) noexcept;

class Findings {
 public:
  explicit Findings(std::size_t most_of_a_kind = 5) : most_(most_of_a_kind) {}

  /// Whether a further one of that kind would be told: texts need not be made for others.
  bool wants(Kind kind) const noexcept { return texts_[index(kind)].size() < most_; }
  /// `text` is only kept if it is wanted.
  void add(Kind kind, std::string text);
  void count(Kind kind, std::size_t more = 1) { counts_[index(kind)] += more; }

  std::size_t count_of(Kind kind) const noexcept { return counts_[index(kind)]; }
  const std::vector<std::string>& texts(Kind kind) const noexcept { return texts_[index(kind)]; }
  std::size_t errors() const noexcept;
  std::size_t warnings() const noexcept {
    return count_of(Kind::dead_end) + count_of(Kind::goes_nowhere) + count_of(Kind::overlap);
  }

  /// All of it for people; empty if nothing was found.
  std::string text() const;

 private:
  static std::size_t index(Kind kind) noexcept { return static_cast<std::size_t>(kind); }

  std::size_t most_;
  std::array<std::size_t, kind_count> counts_{};
  std::array<std::vector<std::string>, kind_count> texts_;
};

}  // namespace fairlead::unrolled
