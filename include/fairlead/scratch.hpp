// Scratch memory of a task. It is reserved together with the task's data, on the memory node where the task runs, and
// released when the task finishes.
//
//   const auto sum = codelet("sum").cpu([](In<Tile<double>> a, InOut<double> s, Scratch<double> work) {...});
//   flow.submit(sum(a(0, 0), s, scratch(1024)));  // work.size() is 1024
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <span>
#include <type_traits>

namespace fairlead {

struct CodeletInfo;
struct TaskContext;

/// The parameter of a body: uninitialized elements, aligned to 64 bytes.
template <class T>
class Scratch : public std::span<T> {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "scratch memory is uninitialized: no constructor or destructor runs there");

 public:
  using std::span<T>::span;
};

/// The argument of a call: the number of elements.
struct ScratchSize {
  std::int64_t elements = 0;
};
constexpr ScratchSize scratch(std::int64_t elements) noexcept { return {elements}; }

namespace detail {

template <class P>
struct ScratchElement {
  static constexpr Bytes bytes = 0;
};
template <class T>
struct ScratchElement<Scratch<T>> {
  static constexpr Bytes bytes = sizeof(T);
};
template <class P>
inline constexpr bool is_scratch = ScratchElement<std::remove_cvref_t<P>>::bytes != 0;

/// The bytes of the task's scratch memory that one parameter uses, rounded up to 64.
constexpr Bytes scratch_bytes(ScratchSize size, Bytes element_bytes) noexcept {
  return (static_cast<Bytes>(size.elements) * element_bytes + 63) / 64 * 64;
}
/// Throws UsageError if the size is negative or exceeds any memory.
Bytes checked_scratch(const CodeletInfo& codelet, ScratchSize size, Bytes element_bytes);
void* scratch_of(const TaskContext& context) noexcept;

}  // namespace detail
}  // namespace fairlead
