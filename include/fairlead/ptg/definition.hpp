// The definition of a parameterized task graph, before analysis: plain data.
#pragma once
#include <fairlead/access.hpp>
#include <fairlead/codelet_info.hpp>
#include <fairlead/detail/submission.hpp>
#include <fairlead/handle.hpp>
#include <fairlead/ptg/expression.hpp>
#include <fairlead/ptg/part.hpp>
#include <fairlead/source_line.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

namespace fairlead {
class Runtime;
}

namespace fairlead::ptg {

struct ClassDefinition;

/// Makes the call for one task of a class.
struct Maker {
  /// Calls use(context, submission). `handles`: pointers to the Handles of the data; `numbers`: the values of
  /// ClassDefinition::numbers for the task.
  void (*make)(const void* self, const void* const* handles, const std::int64_t* numbers,
               void (*use)(void* context, const fairlead::detail::Submission& submission),
               void* context) = nullptr;
  std::shared_ptr<const void> self{};
};

/// Copies a value: a codelet with one datum to read and one to write.
struct Copier {
  std::shared_ptr<const CodeletInfo> codelet{};
  Maker maker{};
};

/// The owner rank of each datum of a collection, by position. Copies share the table.
class Owners {
 public:
  Owners() = default;
  explicit Owners(std::vector<std::uint32_t> ranks) : table_(std::make_shared<Table>(std::move(ranks))) {}
  bool empty() const noexcept { return table_ == nullptr || table_->ranks.empty(); }
  std::uint32_t operator[](std::size_t place) const { return table_->ranks[place]; }
  /// True if the data have more than one owner.
  bool several() const noexcept {
    return std::ranges::any_of(all(), [&](std::uint32_t rank) { return rank != all().front(); });
  }
  std::span<const std::uint32_t> all() const noexcept {
    return table_ == nullptr ? std::span<const std::uint32_t>() : std::span(table_->ranks);
  }
  /// For each index, the period with which the owners repeat along it, for all values of the other indices; at most the
  /// extent. `extents` are those of the collection. Computed once. Thread-safe.
  const std::vector<std::int64_t>& periods(std::span<const std::int64_t> extents) const;

 private:
  struct Table {
    explicit Table(std::vector<std::uint32_t> of) : ranks(std::move(of)) {}
    const std::vector<std::uint32_t> ranks;
    std::once_flag periods_found;
    std::vector<std::int64_t> periods;
  };
  std::shared_ptr<Table> table_;
};

/// A collection: data by their indices, from 0.
struct CollectionDefinition {
  std::string name;
  std::vector<std::int64_t> extents;
  std::type_index type;
  std::size_t handle_bytes = 0;
  /// One handle per datum, first index fastest; empty handles where there is no datum. For a distributed collection,
  /// once complete, only the data of this rank, in the same order; `places` then has their positions.
  std::vector<std::byte> handles{};
  std::vector<fairlead::detail::DatumReference> data{};
  std::vector<std::uint32_t> places{};
  /// For a distributed collection: also a handle of each shape that occurs on any rank, in the order of their
  /// positions.
  std::vector<std::byte> shapes{};

  /// Makes another datum with the shape of `like` and returns its handle. The datum exists as long as the returned
  /// pointer. `exact`: exactly the same extents; otherwise it may be larger. Null: data of this type cannot be made.
  std::function<std::shared_ptr<const void>(Runtime&, const void* like, fairlead::detail::DatumReference&,
                                            bool exact)>
      another{};
  /// True if a datum made like the first one has the shape of the second. Null if values of this type are not copied.
  bool (*alike)(const void* first, const void* second, bool exact) = nullptr;
  /// The size of a datum made like this one. Null if `alike` is.
  std::function<Bytes(const void* like, bool exact)> bytes_of_another{};
  /// Empty: this rank owns all data.
  Owners owners{};
  /// Copies between data of the same extents. Empty if values of this type are not copied.
  Copier copier{};
  /// For tiles: copies a part and leaves the rest unchanged; and the dimensions of a tile.
  Copier (*part_copier)(const Part& part) = nullptr;
  PartOf (*extents_of)(const void* handle) = nullptr;

  const void* handle(std::size_t position) const noexcept { return handles.data() + position * handle_bytes; }
  /// The position, among all data, of the k-th datum of this rank.
  std::size_t place(std::size_t k) const noexcept { return shapes.empty() ? k : places[k]; }
  /// The number of data on all ranks.
  std::size_t count() const noexcept {
    std::size_t product = 1;
    for (const std::int64_t extent : extents) product *= static_cast<std::size_t>(extent);
    return product;
  }
};

/// Where a value comes from, or where it goes.
struct Place {
  enum class Kind : std::uint8_t {
    nothing,  // no value; the body gets an empty datum
    memory,   // a datum of a collection
    task,     // a flow of another task; for a control: the completion of that task
    fresh,    // a new datum without a value; only as an input
    home,  // a datum of a collection in which the value of the task's first flow is stored; no datum if the
           // value is there already. Used internally: see front/ptg/write_backs.hpp
  };
  Kind kind = Kind::nothing;
  std::shared_ptr<const CollectionDefinition> collection{};
  std::weak_ptr<const ClassDefinition> task{};
  std::string flow{};
  std::vector<Expression> indices{};
  /// For a fresh datum, its shape: that of a collection's datum, or of the datum of another flow of the same task,
  /// given by its number.
  std::shared_ptr<const CollectionDefinition> like{};
  std::optional<std::uint16_t> like_flow{};
};

/// A place that applies if the condition holds; with ranges: one place for each of their values.
struct Alternative {
  Place place;
  std::optional<Expression> condition{};
  std::vector<Range> ranges{};
  std::optional<SourceLine> where{};  ///< the source line that states it
  std::uint32_t column = 0;           ///< from 1; 0: unknown
  /// The part of the value that is sent to a task on another rank, or stored in a datum.
  std::optional<Part> part{};
};

/// For an edge whose ends state different parts: the elements of the given part become those of the taken part.
struct Recut {
  Part given, taken;
  std::string edge{};  ///< the edge in error messages: source line and both ends
};

struct FlowDefinition {
  std::string name;
  bool control = false;  ///< only order, no value
  AccessMode mode = AccessMode::read;
  std::type_index type = typeid(void);
  std::vector<Alternative> inputs{}, outputs{};
  /// Other tasks that read the value that this task changes read a copy of it, so that this task does not wait for
  /// them.
  bool or_copy = false;
  Copier copier{};  ///< if or_copy
  /// For data with parts: makes the codelet that reads one part from a datum and writes its elements to another part of
  /// a second datum.
  std::function<Copier(const Recut&)> recut{};
};

struct ClassDefinition {
  std::string name;
  std::vector<Range> indices;  ///< the parameters, and values derived from them
  /// For names in an order other than that of the parameters: maps each position in "gemm(m, n, k)" to a parameter.
  std::vector<std::size_t> called{};
  std::vector<FlowDefinition>
      flows;                        ///< those with data, in the order of the body's parameters; then controls
  std::vector<Expression> numbers;  ///< the other arguments of the body
  Expression priority = 0;
  /// With several ranks: tasks run on the rank that owns this datum.
  std::optional<Place> at{};
  /// Outputs to tasks that do not exist are skipped instead of refused.
  bool skips_missing_receivers = false;
  std::shared_ptr<const CodeletInfo> codelet{};
  Maker maker{};
  const char* file = "";
  std::uint32_t line = 0, column = 0;  ///< the column from 1, if that is known
};

}  // namespace fairlead::ptg
