// What a parameterized task graph is put together from, before it is looked at as a whole: plain data.
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

/// Makes a task's call of what its class's body is given.
struct Maker {
  /// Calls use(context, submission). `handles`: of the data, each to a Handle of its type; `numbers`: what
  /// ClassDefinition::numbers are for the task.
  void (*make)(const void* self, const void* const* handles, const std::int64_t* numbers,
               void (*use)(void* context, const fairlead::detail::Submission& submission),
               void* context) = nullptr;
  std::shared_ptr<const void> self{};
};

/// What makes a copy of a value: a body with a datum to read and one to write.
struct Copier {
  std::shared_ptr<const CodeletInfo> codelet{};
  Maker maker{};
};

/// The rank that owns each datum of a collection, by its place. Copies share them.
class Owners {
 public:
  Owners() = default;
  explicit Owners(std::vector<std::uint32_t> ranks) : table_(std::make_shared<Table>(std::move(ranks))) {}
  bool empty() const noexcept { return table_ == nullptr || table_->ranks.empty(); }
  std::uint32_t operator[](std::size_t place) const { return table_->ranks[place]; }
  /// Not all data are one rank's.
  bool several() const noexcept {
    return std::ranges::any_of(all(), [&](std::uint32_t rank) { return rank != all().front(); });
  }
  std::span<const std::uint32_t> all() const noexcept {
    return table_ == nullptr ? std::span<const std::uint32_t>() : std::span(table_->ranks);
  }
  /// Of a collection with these extents: with each index, after how many of its numbers the owners are as before, whatever
  /// the others are. At most as many as there are. Found out once; any thread.
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

/// Data by their indices, from 0.
struct CollectionDefinition {
  std::string name;
  std::vector<std::int64_t> extents;
  std::type_index type;
  std::size_t handle_bytes = 0;
  /// A handle each, the first index running fastest. Those that do not exist are empty. Where ranks have parts of them, in the
  /// end only those that are here, in the same order, and then `places` says which they are.
  std::vector<std::byte> handles{};
  std::vector<fairlead::detail::DatumReference> data{};
  std::vector<std::uint32_t> places{};
  /// Then also a handle of each shape that there is on any rank, in the order of their places.
  std::vector<std::byte> shapes{};

  /// Makes one more datum, like that of the handle: its handle, which stays as long as what is returned. `exact`: of its
  /// very extents; else it may be larger. Null: of such data there are none but the user's.
  std::function<std::shared_ptr<const void>(Runtime&, const void* like, fairlead::detail::DatumReference&,
                                            bool exact)>
      another{};
  /// Whether one more like the first, made so, would do for the second. Null where values are not copied.
  bool (*alike)(const void* first, const void* second, bool exact) = nullptr;
  /// Then: how much one more like it takes.
  std::function<Bytes(const void* like, bool exact)> bytes_of_another{};
  /// Empty: this one has all.
  Owners owners{};
  /// What copies one to another of the same extents. Nothing where values are not copied.
  Copier copier{};
  /// Of tiles: what copies a part, and leaves the rest as it is; and what a part is cut out of.
  Copier (*part_copier)(const Part& part) = nullptr;
  PartOf (*extents_of)(const void* handle) = nullptr;

  const void* handle(std::size_t position) const noexcept { return handles.data() + position * handle_bytes; }
  /// Of the k-th that is here, in the order of all.
  std::size_t place(std::size_t k) const noexcept { return shapes.empty() ? k : places[k]; }
  /// On all ranks.
  std::size_t count() const noexcept {
    std::size_t product = 1;
    for (const std::int64_t extent : extents) product *= static_cast<std::size_t>(extent);
    return product;
  }
};

/// Where a value comes from, or goes to.
struct Place {
  enum class Kind : std::uint8_t {
    nothing,  // there is no value; the body is given an empty datum
    memory,   // a datum of a collection
    task,     // a flow of another task; of control: that task's end
    fresh,    // a new datum, of which nothing is known; only where it comes from
    home,  // a datum of a collection, into which the value of the task's first flow comes home; no datum if that
           // is there already. Of what makes itself, see front/ptg/homecomings.hpp
  };
  Kind kind = Kind::nothing;
  std::shared_ptr<const CollectionDefinition> collection{};
  std::weak_ptr<const ClassDefinition> task{};
  std::string flow{};
  std::vector<Expression> indices{};
  /// Of a fresh datum: one to look like; or the flow of the same task whose datum it looks like, by number.
  std::shared_ptr<const CollectionDefinition> like{};
  std::optional<std::uint16_t> like_flow{};
};

/// One of the places, if the condition holds; with ranges: of each of their numbers.
struct Alternative {
  Place place;
  std::optional<Expression> condition{};
  std::vector<Range> ranges{};
  std::optional<SourceLine> where{};  ///< it is said there
  std::uint32_t column = 0;           ///< from 1, if that is known
  /// What of the value goes to a task on another rank; in data, what of it is left there.
  std::optional<Part> part{};
};

/// Between the ends of an edge that say different parts: the elements of one become those of the other.
struct Recut {
  Part given, taken;
  std::string edge{};  ///< what an error calls it: where it is said, and both ends
};

struct FlowDefinition {
  std::string name;
  bool control = false;  ///< no value, only order
  AccessMode mode = AccessMode::read;
  std::type_index type = typeid(void);
  std::vector<Alternative> inputs{}, outputs{};
  /// Others who read the value that the task changes read a copy of it, rather than that the task waits for them.
  bool or_copy = false;
  Copier copier{};  ///< if so
  /// Of data that have parts: what makes of the elements of one part, in a datum read, another one's, in a datum written.
  std::function<Copier(const Recut&)> recut{};
};

struct ClassDefinition {
  std::string name;
  std::vector<Range> indices;  ///< parameters, and what follows from them
  /// How its tasks are called, where that is otherwise: for each place of "gemm(m, n, k)" which of the parameters.
  std::vector<std::size_t> called{};
  std::vector<FlowDefinition>
      flows;                        ///< those that have data, in the order of the body's parameters; controls
  std::vector<Expression> numbers;  ///< what the body is given besides
  Expression priority = 0;
  /// Over ranks: where the datum is, there its tasks run.
  std::optional<Place> at{};
  std::shared_ptr<const CodeletInfo> codelet{};
  Maker maker{};
  const char* file = "";
  std::uint32_t line = 0;
};

}  // namespace fairlead::ptg
