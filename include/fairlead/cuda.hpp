// Bodies for CUDA devices. A body puts work into the stream that it is given and returns; the task is over when the
// device has done it. Its data are on the device, where kernels follow their addresses and cores do not.
//
//   codelet("scale").cpu(...).cuda([](cudaStream_t s, InOut<Tile<double>> x, double f) {
//     scale<<<blocks, threads, 0, s>>>(x.data(), x.rows() * x.columns(), f);
//   });
//
// A cudaStream_t, or a CUstream, is what Fairlead's own CudaStream turns into, which knows more. Nothing of CUDA is
// needed to include this.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

// What the headers of CUDA call cudaStream_t and CUstream points to this.
struct CUstream_st;

namespace fairlead {

/// A kernel of a CudaModule.
struct CudaKernel;

/// Kernels of one's own without the runtime library of CUDA: what nvcc makes of a .cu file by -fatbin, -cubin or -ptx, and the
/// names that they have there (as extern "C"). Copies share it. Each device loads all of them when a task first launches one there, and
/// keeps them until the runtime ends.
class CudaModule {
 public:
  struct Content {
    std::string image;
    std::vector<std::string> names;
  };
  CudaModule(std::string image, std::vector<std::string> names)
      : content_(std::make_shared<const Content>(Content{std::move(image), std::move(names)})) {}
  const Content& content() const noexcept { return *content_; }
  /// Throws UsageError if that is none of the names.
  CudaKernel operator[](std::string_view name) const;

 private:
  std::shared_ptr<const Content> content_;
};
struct CudaKernel {
  CudaModule module;
  std::size_t number = 0;  ///< among the names
};

/// How many thread blocks, and threads in each, in up to three dimensions; and bytes of shared memory that the kernel's
/// declarations do not count.
struct CudaGrid {
  std::array<unsigned, 3> blocks{1, 1, 1}, threads{1, 1, 1};
  unsigned shared_bytes = 0;
};
constexpr CudaGrid cuda_grid(unsigned blocks, unsigned threads) noexcept {
  return {{blocks, 1, 1}, {threads, 1, 1}, 0};
}

namespace detail {

/// The stream of a worker, as the library has it.
class CudaLauncher {
 public:
  virtual ~CudaLauncher() = default;
  virtual CUstream_st* stream() const noexcept = 0;
  virtual int device() const noexcept = 0;
  virtual void* workspace() const noexcept = 0;
  virtual std::size_t workspace_bytes() const noexcept = 0;
  virtual void* answer() const noexcept = 0;
  virtual void then(std::function<void()> check) = 0;
  /// What is kept under that type; null if nothing is.
  virtual void* kept(std::type_index type) const noexcept = 0;
  virtual void keep(std::type_index type, void* object, void (*destroy)(void*)) = 0;
  virtual void check(int status, const char* what) const = 0;
  virtual void launch(const CudaKernel& kernel, const CudaGrid& grid, void** arguments) = 0;
};

}  // namespace detail

/// The first parameter of a body for CUDA devices: the stream of the worker that runs the task. What is put into it is
/// executed in that order. It is the body's until that returns, with its device's context current.
class CudaStream {
 public:
  /// The library's.
  explicit CudaStream(const TaskContext& context) noexcept
      : launcher_(static_cast<detail::CudaLauncher*>(context.launcher)) {}

  operator CUstream_st*() const noexcept { return launcher_->stream(); }
  /// As CUDA counts devices.
  int device() const noexcept { return launcher_->device(); }

  /// Memory of the device for what kernels need beside the task's data: the stream's own, and what earlier tasks left
  /// there means nothing. So large as the device's option `workspace` says.
  void* workspace() const noexcept { return launcher_->workspace(); }
  std::size_t workspace_bytes() const noexcept { return launcher_->workspace_bytes(); }

  static constexpr std::size_t answer_bytes = 256;
  /// Where kernels of the task may leave a few bytes for the check below: in RAM, at an address that the device follows
  /// too. What earlier tasks left there means nothing.
  template <class T>
  T* answer() const noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= answer_bytes);
    return static_cast<T*>(launcher_->answer());
  }
  /// `check` is called when the device has done all that the body put into the stream, before the task is over: what
  /// it throws fails the task. Not called if the body throws or the device fails.
  void then(std::function<void()> check) const { launcher_->then(std::move(check)); }

  /// An object that the stream keeps until the runtime ends, such as a handle of a library: made by what `make` returns
  /// (a T*, by new) when it is first asked for. If the device is lost, it is not destroyed, since nothing may be called
  /// for that device any more.
  template <class T, std::invocable Make>
  T& kept(const Make& make) const {
    if (void* const known = launcher_->kept(typeid(T))) return *static_cast<T*>(known);
    T* const made = make();
    launcher_->keep(typeid(T), made, [](void* object) { delete static_cast<T*>(object); });
    return *made;
  }

  /// Puts a kernel into the stream. Arguments have the very types of its parameters: an int is no std::size_t. Throws SystemError if the
  /// device cannot load it or refuses it.
  template <class... A>
  void run(const CudaKernel& kernel, const CudaGrid& grid, const A&... arguments) const {
    static_assert(
        (true && ... && std::is_trivially_copyable_v<A>),
        "an argument of a kernel is an address of the device, a number, or a plain structure of these");
    std::array<void*, sizeof...(A) + 1> all{const_cast<void*>(static_cast<const void*>(&arguments))...,
                                            nullptr};
    launcher_->launch(kernel, grid, all.data());
  }

  /// For functions of CUDA's driver that are called directly: throws SystemError, with the device and the error's name,
  /// if the status is not CUDA_SUCCESS. (The numbers of cudaError_t are the same.)
  void check(int status, const char* what) const { launcher_->check(status, what); }

 private:
  detail::CudaLauncher* launcher_;
};

}  // namespace fairlead
