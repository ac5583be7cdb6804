// Bodies for CUDA devices. A body enqueues work in the stream that it gets, and returns; the task finishes when the
// device has executed it. The data are in device memory: kernels can dereference their addresses, cores cannot.
//
//   codelet("scale").cpu(...).cuda([](cudaStream_t s, InOut<Tile<double>> x, double f) {
//     scale<<<blocks, threads, 0, s>>>(x.data(), x.rows() * x.columns(), f);
//   });
//
// The parameter may also be a CudaStream, which converts to cudaStream_t and CUstream and has further functions. This
// header does not need the CUDA toolkit.
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

// cudaStream_t and CUstream of the CUDA headers are pointers to this.
struct CUstream_st;

namespace fairlead {

/// A kernel of a CudaModule.
struct CudaKernel;

/// User-defined kernels without the CUDA runtime library: the output of nvcc -fatbin, -cubin or -ptx for a .cu file,
/// and the names of its extern "C" kernels. Copies share the content. Each device loads the module when a task first
/// launches one of its kernels there, and keeps it until the runtime ends.
class CudaModule {
 public:
  struct Content {
    std::string image;
    std::vector<std::string> names;
  };
  CudaModule(std::string image, std::vector<std::string> names)
      : content_(std::make_shared<const Content>(Content{std::move(image), std::move(names)})) {}
  const Content& content() const noexcept { return *content_; }
  /// Throws UsageError if there is no kernel of this name.
  CudaKernel operator[](std::string_view name) const;

 private:
  std::shared_ptr<const Content> content_;
};
struct CudaKernel {
  CudaModule module;
  std::size_t number = 0;  ///< the index of the name
};

/// The numbers of thread blocks and of threads per block, in up to three dimensions; and the bytes of dynamic shared
/// memory.
struct CudaGrid {
  std::array<unsigned, 3> blocks{1, 1, 1}, threads{1, 1, 1};
  unsigned shared_bytes = 0;
};
constexpr CudaGrid cuda_grid(unsigned blocks, unsigned threads) noexcept {
  return {{blocks, 1, 1}, {threads, 1, 1}, 0};
}

namespace detail {

/// The stream of a worker; implemented by the library.
class CudaLauncher {
 public:
  virtual ~CudaLauncher() = default;
  virtual CUstream_st* stream() const noexcept = 0;
  virtual int device() const noexcept = 0;
  virtual void* workspace() const noexcept = 0;
  virtual std::size_t workspace_bytes() const noexcept = 0;
  virtual void* answer() const noexcept = 0;
  virtual void then(std::function<void()> check) = 0;
  /// The object stored under this type; null if there is none.
  virtual void* kept(std::type_index type) const noexcept = 0;
  virtual void keep(std::type_index type, void* object, void (*destroy)(void*)) = 0;
  virtual void check(int status, const char* what) const = 0;
  virtual void launch(const CudaKernel& kernel, const CudaGrid& grid, void** arguments) = 0;
};

}  // namespace detail

/// The first parameter of a body for CUDA devices: the stream of the worker that runs the task. Work in a stream
/// executes in order. Valid until the body returns; the device's context is current.
class CudaStream {
 public:
  /// Internal.
  explicit CudaStream(const TaskContext& context) noexcept
      : launcher_(static_cast<detail::CudaLauncher*>(context.launcher)) {}

  operator CUstream_st*() const noexcept { return launcher_->stream(); }
  /// The CUDA device number.
  int device() const noexcept { return launcher_->device(); }

  /// Temporary device memory for kernels, private to the stream. Its content is undefined at the start of a task. The
  /// device's option `workspace` sets its size.
  void* workspace() const noexcept { return launcher_->workspace(); }
  std::size_t workspace_bytes() const noexcept { return launcher_->workspace_bytes(); }

  static constexpr std::size_t answer_bytes = 256;
  /// A few bytes in RAM, accessible to host and device, in which the task's kernels may leave results for the check
  /// passed to then(). The content is undefined at the start of a task.
  template <class T>
  T* answer() const noexcept {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= answer_bytes);
    return static_cast<T*>(launcher_->answer());
  }
  /// Calls `check` when the device has executed all work that the body enqueued, before the task finishes. If it
  /// throws, the task fails. Not called if the body throws or the device fails.
  void then(std::function<void()> check) const { launcher_->then(std::move(check)); }

  /// An object, such as the handle of a library, that the stream stores until the runtime ends. The first call makes
  /// it: `make` returns a T* allocated with new. If the device is lost the object is not destroyed, since no function
  /// may be called for that device.
  template <class T, std::invocable Make>
  T& kept(const Make& make) const {
    if (void* const known = launcher_->kept(typeid(T))) return *static_cast<T*>(known);
    T* const made = make();
    launcher_->keep(typeid(T), made, [](void* object) { delete static_cast<T*>(object); });
    return *made;
  }

  /// Enqueues a kernel. Arguments must have exactly the types of its parameters: an int does not convert to
  /// std::size_t. Throws SystemError if the device cannot load the kernel or rejects it.
  template <class... A>
  void run(const CudaKernel& kernel, const CudaGrid& grid, const A&... arguments) const {
    static_assert((true && ... && std::is_trivially_copyable_v<A>),
                  "an argument of a kernel must be a device address, a number, or a trivially copyable "
                  "structure of these");
    std::array<void*, sizeof...(A) + 1> all{const_cast<void*>(static_cast<const void*>(&arguments))...,
                                            nullptr};
    launcher_->launch(kernel, grid, all.data());
  }

  /// For direct calls of the CUDA driver: throws SystemError, with the device and the error's name, if the status is
  /// not CUDA_SUCCESS. The values of cudaError_t are the same.
  void check(int status, const char* what) const { launcher_->check(status, what); }

 private:
  detail::CudaLauncher* launcher_;
};

}  // namespace fairlead
