// See host_kernels.hpp.
#include "fake_cuda/host_kernels.hpp"

#include <algorithm>
#include <barrier>
#include <iterator>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "fake_cuda/device_code.hpp"
#include "fake_cuda/library.hpp"

#include "algorithms/kernels/qr.cu"
#include "stencil/heat.cu"

namespace fake_cuda {

namespace {

/// The threads of a block that runs; those that have returned are not waited for, as on a device.
thread_local std::barrier<>* block_of_thread = nullptr;
thread_local unsigned waits_of_thread = 0;

template <class Call>
std::string run_block(unsigned block, const Threads& how, const Call& call) {
  std::barrier<> together(how.of_block);
  std::vector<unsigned> waits(how.of_block);
  const auto run = [&](unsigned thread) {
    threadIdx.x = thread;
    blockIdx.x = block;
    blockDim.x = how.of_block;
    gridDim.x = how.blocks;
    block_of_thread = &together;
    waits_of_thread = 0;
    call();
    waits[thread] = waits_of_thread;
    together.arrive_and_drop();
  };
  {
    std::vector<std::jthread> others;
    for (unsigned thread = 1; thread < how.of_block; ++thread) others.emplace_back(run, thread);
    run(0);
  }
  return std::ranges::adjacent_find(waits, std::ranges::not_equal_to()) == waits.end()
             ? ""
             : "threads of a block do not all call __syncthreads() as often";
}

/// A kernel by its type: its arguments are copied when it is launched, and addresses among them are those of cores.
template <class... A>
struct Kernel {
  static std::tuple<A...> given(void** arguments) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<A...>(*static_cast<A*>(arguments[I])...);
    }
    (std::index_sequence_for<A...>());
  }
  template <class T>
  static void move(T& argument, const std::function<void*(const void*)>& place) {
    if constexpr (std::is_pointer_v<T>) argument = static_cast<T>(place(argument));
  }
  static std::function<std::string(Threads)> bind(void (*kernel)(A...), void** arguments,
                                                  const std::function<void*(const void*)>& place) {
    std::tuple<A...> all = given(arguments);
    std::apply([&](A&... each) { (move(each, place), ...); }, all);
    return [kernel, all](Threads how) {
      std::string wrong;
      for (unsigned block = 0; block < how.blocks; ++block)
        if (const std::string text = run_block(block, how, [&] { std::apply(kernel, all); }); !text.empty())
          wrong = text;
      return wrong;
    };
  }
};

template <auto kernel, auto accesses, class Type = decltype(kernel)>
struct Entry;
template <auto kernel, auto accesses, class... A>
struct Entry<kernel, accesses, void (*)(A...)> {
  static std::vector<Access> accessed(void** arguments) {
    return std::apply(accesses, Kernel<A...>::given(arguments));
  }
  static std::function<std::string(Threads)> bound(void** arguments,
                                                   const std::function<void*(const void*)>& place) {
    return Kernel<A...>::bind(kernel, arguments, place);
  }
  static constexpr HostKernel named(std::string_view name) { return {name, accessed, bound}; }
};

template <class T>
std::vector<Access> of_geqrt(int rows, int columns, T* a, int a_ld, T* t, int t_ld, int t_rows) {
  return {matrix(a, rows, columns, a_ld, true), matrix(t, t_rows, columns, t_ld, true)};
}
template <class T>
std::vector<Access> of_tpqrt(int rows, int rows_of_first, int columns, T* r, int r_ld, T* b, int b_ld, T* t,
                             int t_ld, int t_rows) {
  return {matrix(r, columns, columns, r_ld, true),
          matrix(b, std::min(rows, rows_of_first + columns - 1), columns, b_ld, true),
          matrix(t, t_rows, columns, t_ld, true)};
}
template <class T>
std::vector<Access> of_add(int rows, int columns, T, const T* a, int a_ld, T, T* c, int c_ld) {
  return {matrix(a, rows, columns, a_ld, false), matrix(c, rows, columns, c_ld, true)};
}

std::vector<Access> of_clear(double* patch, int rows, int columns) {
  return {matrix(patch, rows, columns, rows, true)};
}
std::vector<Access> of_fill(double* patch, int rows, int columns, int, const double* tile, int tile_rows,
                            int tile_columns, int, int) {
  return {matrix(patch, rows, columns, rows, true), matrix(tile, tile_rows, tile_columns, tile_rows, false)};
}
std::vector<Access> of_step(const double* now, double* next, int rows, int columns, int, int, int, int, int,
                            int) {
  return {matrix(now, rows, columns, rows, false), matrix(next, rows, columns, rows, true)};
}
std::vector<Access> of_take(const double* patch, int rows, int border, double* tile, int tile_rows,
                            int tile_columns) {
  return {matrix(patch, rows, tile_columns + 2 * border, rows, false),
          matrix(tile, tile_rows, tile_columns, tile_rows, true)};
}

constexpr HostKernel all[] = {
    Entry<fairlead_geqrt_32, of_geqrt<float>>::named("fairlead_geqrt_32"),
    Entry<fairlead_geqrt_64, of_geqrt<double>>::named("fairlead_geqrt_64"),
    Entry<fairlead_tpqrt_32, of_tpqrt<float>>::named("fairlead_tpqrt_32"),
    Entry<fairlead_tpqrt_64, of_tpqrt<double>>::named("fairlead_tpqrt_64"),
    Entry<fairlead_add_32, of_add<float>>::named("fairlead_add_32"),
    Entry<fairlead_add_64, of_add<double>>::named("fairlead_add_64"),
    Entry<heat_clear, of_clear>::named("heat_clear"),
    Entry<heat_fill, of_fill>::named("heat_fill"),
    Entry<heat_step, of_step>::named("heat_step"),
    Entry<heat_take, of_take>::named("heat_take"),
};

}  // namespace

void synchronize_block() {
  ++waits_of_thread;
  block_of_thread->arrive_and_wait();
}

const HostKernel* host_kernel(std::string_view name) {
  const auto* const found = std::ranges::find(all, name, &HostKernel::name);
  return found == std::end(all) ? nullptr : found;
}

}  // namespace fake_cuda
