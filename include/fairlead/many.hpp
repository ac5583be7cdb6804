// Lists of data: the parameter of a body that takes any number of data. The caller decides the number for each task.
//
//   const auto sum = codelet("sum").cpu([](Many<In<Tile<double>>> column, InOut<double> total) {
//     for (const In<Tile<double>>& tile : column) *total += tile(0, 0);
//   });
//   std::vector<Handle<Tile<double>>> column = ...;
//   flow.submit(sum(column, total));
#pragma once
#include <fairlead/parameter.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace fairlead {

/// The data of a list, in the order of the handles. P: In, Out, InOut or Commute of a type. Valid until the task
/// finishes.
template <class P>
class Many : public std::span<const P> {
  static_assert(detail::is_datum<P>,
                "Many is a list of data: Many<In<T>>, Many<Out<T>>, Many<InOut<T>> or Many<Commute<T>>");
  static_assert(P::mode != AccessMode::reduction,
                "Many: the data of a list cannot be reduced; give each Reduce its own parameter");

 public:
  using Parameter = P;
  using std::span<const P>::span;
  const P& operator[](std::size_t i) const {
    detail::check_element("list", {static_cast<std::int64_t>(i)}, {static_cast<std::int64_t>(this->size())});
    return std::span<const P>::operator[](i);
  }
};

namespace detail {

template <class P>
struct IsList : std::false_type {};
template <class P>
struct IsList<Many<P>> : std::true_type {};
template <class P>
inline constexpr bool is_list = IsList<std::remove_cvref_t<P>>::value;

/// What a task stores of a list.
template <class P>
struct StoredList {
  std::vector<typename P::Stored> shapes;
  std::vector<AccessIndex> accesses;  ///< by datum: the task's access
  std::vector<P> views;               ///< made when the task runs, in memory reserved at submission
};

}  // namespace detail
}  // namespace fairlead
