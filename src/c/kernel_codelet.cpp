// Codelets for Fairlead's own kernels on tiles.
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "algorithms/linalg/tile_kernels.hpp"
#include "base/scalar.hpp"
#include "c/options.hpp"
#include "c/status.hpp"
#include "c/task_codelet.hpp"

namespace fairlead::c {

namespace {

/// A parameter of the codelet from the task: a tile, or a number.
template <class T, class P, std::size_t I>
auto parameter_of(const GivenTask& task) {
  if constexpr (fairlead::detail::is_datum<P>) {
    const fairlead_datum& datum = *task.data[I];
    return Handle<Tile<T>>(datum.reference, {static_cast<std::int32_t>(datum.array.extents[0]),
                                             static_cast<std::int32_t>(datum.array.extents[1]),
                                             static_cast<std::int32_t>(datum.array.strides[1])});
  } else {
    P number{};
    if (task.argument_bytes == sizeof number) std::memcpy(&number, task.arguments, sizeof number);
    return number;
  }
}

/// Whether the tiles have the shapes, such as "mk nk mn": equal letters are equal extents.
bool have_shapes(std::span<fairlead_datum* const> tiles, std::string_view shapes) noexcept {
  std::array<std::int64_t, 'n' - 'k' + 1> extent_of{};
  bool fit = true;
  for (std::size_t i = 0; i < tiles.size(); ++i)
    for (std::size_t side = 0; side < 2; ++side) {
      std::int64_t& known = extent_of[static_cast<std::size_t>(shapes[3 * i + side] - 'k')];
      const std::int64_t extent = tiles[i]->array.extents[side];
      fit &= known == 0 || known == extent;
      known = extent;
    }
  return fit;
}

[[noreturn]] void throw_shapes(const std::string& task, std::span<fairlead_datum* const> tiles,
                               std::string_view shapes) {
  std::string given;
  for (const fairlead_datum* const tile : tiles)
    given +=
        fmt::format("{}{} x {}", given.empty() ? "" : ", ", tile->array.extents[0], tile->array.extents[1]);
  throw UsageError(fmt::format("the task {} has tiles of {}, and needs the shapes {}", task, given, shapes));
}

template <class T, class... P>
class KernelCodelet final : public fairlead_codelet {
 public:
  KernelCodelet(Codelet<P...> codelet, std::string_view shapes)
      : codelet_(std::move(codelet)), shapes_(shapes) {}

  void submit(front::FlowSource& flow, const GivenTask& task) const override {
    check(task);
    submit_checked(flow, task, std::index_sequence_for<P...>());
  }

 private:
  template <std::size_t... I>
  void submit_checked(front::FlowSource& flow, const GivenTask& task, std::index_sequence<I...>) const {
    const Call<P...> call = codelet_(parameter_of<T, P, I>(task)...).priority(task.priority);
    fairlead::detail::Submission submission = call.submission();
    submission.file = task.file;
    submission.line = task.line;
    flow.submit(submission, call.codelet());
  }
  void check(const GivenTask& task) const {
    constexpr std::size_t tiles = fairlead::detail::datum_count<P...>;
    if (task.data.size() != tiles)
      throw UsageError(fmt::format("the task {} has {} data, and needs {} tiles", codelet_.name(),
                                   task.data.size(), tiles));
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    for (const fairlead_datum* const datum : task.data) {
      const Strided& array = datum->array;
      if (datum->element_bytes != sizeof(T))
        throw UsageError(fmt::format("the task {} is for elements of {} bytes, and a tile has {}",
                                     codelet_.name(), sizeof(T), datum->element_bytes));
      if (array.strides[0] != 1 || array.extents[2] != 1 || array.strides[1] < array.extents[0] ||
          array.strides[1] > most || array.extents[1] > most)
        throw UsageError(fmt::format("the task {} is for column-major matrices", codelet_.name()));
    }
    if (!have_shapes(task.data, shapes_)) throw_shapes(codelet_.name(), task.data, shapes_);
  }

  Codelet<P...> codelet_;
  std::string_view shapes_;
};

template <class T, class... P>
std::unique_ptr<fairlead_codelet> codelet_for_c(Codelet<P...> codelet, std::string_view shapes) {
  return std::make_unique<KernelCodelet<T, P...>>(std::move(codelet), shapes);
}

template <class T>
std::unique_ptr<fairlead_codelet> kernel_of(const linalg::Kernels& kernels, fairlead_kernel kernel) {
  switch (kernel) {
    case FAIRLEAD_KERNEL_POTRF:
      return codelet_for_c<T>(linalg::CholeskyKernels<T>(kernels).potrf, "nn");
    case FAIRLEAD_KERNEL_TRSM:
      return codelet_for_c<T>(linalg::CholeskyKernels<T>(kernels).trsm, "nn mn");
    case FAIRLEAD_KERNEL_SYRK:
      return codelet_for_c<T>(linalg::CholeskyKernels<T>(kernels).syrk, "nk nn");
    case FAIRLEAD_KERNEL_GEMM:
      return codelet_for_c<T>(linalg::CholeskyKernels<T>(kernels).gemm, "mk nk mn");
    case FAIRLEAD_KERNEL_GETRF:
      return codelet_for_c<T>(linalg::LuKernels<T>(kernels).getrf, "nn");
    case FAIRLEAD_KERNEL_TRSM_UPPER:
      return codelet_for_c<T>(linalg::LuKernels<T>(kernels).trsm_below, "nn mn");
    case FAIRLEAD_KERNEL_TRSM_LOWER:
      return codelet_for_c<T>(linalg::LuKernels<T>(kernels).trsm_right, "mm mn");
    case FAIRLEAD_KERNEL_GEMM_LU:
      return codelet_for_c<T>(linalg::LuKernels<T>(kernels).gemm, "mk kn mn");
    case FAIRLEAD_KERNEL_GEMM_ADD:
      if constexpr (is_complex_number<T>)
        throw UnsupportedError("gemm_add is for real matrices");
      else
        return codelet_for_c<T>(linalg::ProductKernels<T>(kernels, 1, 1).add, "mk kn mn");
  }
  throw UsageError(
      fmt::format("the kernel is {}, which is none of fairlead_kernel", static_cast<int>(kernel)));
}

}  // namespace
}  // namespace fairlead::c

using namespace fairlead;

fairlead_status fairlead_codelet_kernel(fairlead_runtime* runtime, fairlead_kernel kernel,
                                        fairlead_element element, fairlead_codelet** codelet) {
  return c::status_of([&] {
    c::RuntimeHost& host = *c::required(runtime, "runtime")->host;
    c::required(codelet, "codelet");
    host.run([&](const std::stop_token&) {
      *codelet = c::with_element(element, [&]<class T>(T) {
                   return c::kernel_of<T>(host.kernels(), kernel);
                 }).release();
    });
  });
}
