// Bodies for OpenCL devices. A body enqueues commands in the command queue that it gets, and returns; the task finishes
// when the device has executed them. The data are in device memory: cores cannot dereference their addresses. buffer()
// returns the OpenCL buffer that contains them.
//
//   const OpenclKernel scale("scale", R"(
//     kernel void scale(global double* x, ulong offset, double f) { x[offset + get_global_id(0)] *= f; })");
//   codelet("scale").cpu(...).opencl([scale](OpenclQueue q, InOut<Tile<double>> x, double f) {
//     const auto [memory, offset] = q.buffer(x);
//     q.run(scale, {x.rows() * x.columns()}, memory, offset, f);
//   });
//
// The OpenCL headers are not needed, but can be used: an OpenclQueue converts to cl_command_queue, a buffer is a
// cl_mem.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

// cl_command_queue, cl_context, cl_device_id and cl_mem of the OpenCL headers are pointers to these.
struct _cl_command_queue;
struct _cl_context;
struct _cl_device_id;
struct _cl_mem;

namespace fairlead {

/// The location of a datum: a cl_mem and an offset in it.
struct OpenclBuffer {
  _cl_mem* memory = nullptr;
  std::size_t offset = 0;
};

/// A kernel and its OpenCL C program. Each device compiles it before its first task with the kernel, and caches the
/// result.
class OpenclKernel {
 public:
  struct Text {
    std::string name, source, options;
  };
  /// `options`: for the OpenCL compiler, such as "-DN=8".
  OpenclKernel(std::string name, std::string source, std::string options = {})
      : text_(std::make_shared<const Text>(Text{std::move(name), std::move(source), std::move(options)})) {}
  const Text& text() const noexcept { return *text_; }

 private:
  std::shared_ptr<const Text> text_;
};

/// The number of work-items, in up to three dimensions.
class OpenclRange {
 public:
  template <std::integral... N>
  requires(sizeof...(N) >= 1 && sizeof...(N) <= 3) OpenclRange(N... items)
      : dimensions_(sizeof...(N)), items_{static_cast<std::size_t>(items)...} {}
  /// Sets the work-group size, which must divide the number of work-items; by default the device chooses it.
  template <std::integral... N>
  OpenclRange in_groups_of(N... items) const {
    OpenclRange range = *this;
    static_assert(sizeof...(N) >= 1 && sizeof...(N) <= 3);
    range.group_ = {static_cast<std::size_t>(items)...};
    range.grouped_ = true;
    return range;
  }
  unsigned dimensions() const noexcept { return dimensions_; }
  const std::size_t* items() const noexcept { return items_.data(); }
  const std::size_t* group() const noexcept { return grouped_ ? group_.data() : nullptr; }

 private:
  unsigned dimensions_ = 1;
  bool grouped_ = false;
  std::array<std::size_t, 3> items_{}, group_{};
};

/// A kernel argument: bytes of local memory, shared by the work-items of a group.
struct OpenclLocal {
  std::size_t bytes = 0;
};

namespace detail {

/// The queue of a worker; implemented by the library.
class OpenclLauncher {
 public:
  struct Argument {
    std::size_t bytes = 0;
    const void* value = nullptr;  ///< null: local memory
  };
  virtual ~OpenclLauncher() = default;
  virtual _cl_command_queue* queue() const noexcept = 0;
  virtual _cl_context* context() const noexcept = 0;
  virtual _cl_device_id* device() const noexcept = 0;
  /// The buffer and offset in bytes. Throws UsageError if the address is not in the device's memory.
  virtual OpenclBuffer where(const void* address) const = 0;
  virtual void launch(const OpenclKernel& kernel, const OpenclRange& range,
                      std::span<const Argument> arguments) = 0;
  virtual void check(int status, const char* what) const = 0;
  virtual _cl_mem* workspace() const noexcept = 0;
  virtual std::size_t workspace_bytes() const noexcept = 0;
};

[[noreturn]] void offset_is_no_multiple(std::size_t offset, std::size_t element_bytes);

}  // namespace detail

/// The first parameter of a body for OpenCL devices: the command queue of the worker that runs the task. Commands of
/// one queue execute in order. Valid until the body returns.
class OpenclQueue {
 public:
  /// Internal.
  explicit OpenclQueue(const TaskContext& context) noexcept
      : launcher_(static_cast<detail::OpenclLauncher*>(context.launcher)) {}

  operator _cl_command_queue*() const noexcept { return launcher_->queue(); }
  _cl_context* context() const noexcept { return launcher_->context(); }
  _cl_device_id* device() const noexcept { return launcher_->device(); }

  /// A temporary buffer for kernels, private to the queue. Its content is undefined at the start of a task. The
  /// device's option `workspace` sets its size; null if that is 0.
  _cl_mem* workspace() const noexcept { return launcher_->workspace(); }
  std::size_t workspace_bytes() const noexcept { return launcher_->workspace_bytes(); }

  /// The buffer that contains a parameter of the body, a datum or scratch memory; the offset is in elements. Throws
  /// UsageError if the parameter is in host memory. Also throws it if the offset is not a multiple of the element size,
  /// which is possible for element sizes that are not powers of two: use buffer_in_bytes() then.
  template <class Parameter>
  OpenclBuffer buffer(const Parameter& parameter) const {
    using Element = std::remove_pointer_t<decltype(address_of(parameter))>;
    OpenclBuffer buffer = buffer_in_bytes(parameter);
    if (buffer.offset % sizeof(Element) != 0) detail::offset_is_no_multiple(buffer.offset, sizeof(Element));
    buffer.offset /= sizeof(Element);
    return buffer;
  }
  template <class Parameter>
  OpenclBuffer buffer_in_bytes(const Parameter& parameter) const {
    return launcher_->where(address_of(parameter));
  }

  /// Enqueues a kernel. Arguments are buffers (cl_mem), numbers of the types in the kernel (std::size_t for ulong), or
  /// OpenclLocal. Throws SystemError if the kernel does not compile, with the compiler's messages, or if the device
  /// rejects it.
  template <class... A>
  void run(const OpenclKernel& kernel, const OpenclRange& range, const A&... arguments) const {
    const std::array<detail::OpenclLauncher::Argument, sizeof...(A)> all{argument(arguments)...};
    launcher_->launch(kernel, range, all);
  }

  /// For direct OpenCL calls: throws SystemError, with the device and the error's name, if the status is not
  /// CL_SUCCESS.
  void check(int status, const char* what) const { launcher_->check(status, what); }

 private:
  template <class Parameter>
  static auto address_of(const Parameter& parameter) noexcept {
    if constexpr (requires { parameter.data(); }) {
      return parameter.data();
    } else {
      return parameter.operator->();  // a single value: only its address is used
    }
  }
  template <class A>
  static detail::OpenclLauncher::Argument argument(const A& value) noexcept {
    static_assert(std::is_trivially_copyable_v<A>, "an argument of a kernel must be a buffer or a number");
    return {sizeof(A), &value};
  }
  static detail::OpenclLauncher::Argument argument(const OpenclLocal& local) noexcept {
    return {local.bytes, nullptr};
  }

  detail::OpenclLauncher* launcher_;
};

}  // namespace fairlead
