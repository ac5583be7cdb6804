// Bodies for OpenCL devices. A body puts commands into the queue that it is given and returns; the task is over when
// the device has done them. Its data are on the device: a core cannot follow their addresses, and buffer() says which
// buffer of OpenCL they are in.
//
//   const OpenclKernel scale("scale", R"(
//     kernel void scale(global double* x, ulong offset, double f) { x[offset + get_global_id(0)] *= f; })");
//   codelet("scale").cpu(...).opencl([scale](OpenclQueue q, InOut<Tile<double>> x, double f) {
//     const auto [memory, offset] = q.buffer(x);
//     q.run(scale, {x.rows() * x.columns()}, memory, offset, f);
//   });
//
// Whoever has the headers of OpenCL may use them as well: a queue is a cl_command_queue, a buffer a cl_mem.
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

// What the headers of OpenCL call cl_command_queue, cl_context, cl_device_id and cl_mem point to these.
struct _cl_command_queue;
struct _cl_context;
struct _cl_device_id;
struct _cl_mem;

namespace fairlead {

/// Where a datum lies: a cl_mem, and how far from its beginning.
struct OpenclBuffer {
  _cl_mem* memory = nullptr;
  std::size_t offset = 0;
};

/// A kernel and its program in OpenCL C. Each device compiles it when a task first runs it there, and keeps it.
class OpenclKernel {
 public:
  struct Text {
    std::string name, source, options;
  };
  /// `options`: for the compiler, as "-DN=8".
  OpenclKernel(std::string name, std::string source, std::string options = {})
      : text_(std::make_shared<const Text>(Text{std::move(name), std::move(source), std::move(options)})) {}
  const Text& text() const noexcept { return *text_; }

 private:
  std::shared_ptr<const Text> text_;
};

/// How many work-items, in up to three dimensions.
class OpenclRange {
 public:
  template <std::integral... N>
  requires(sizeof...(N) >= 1 && sizeof...(N) <= 3) OpenclRange(N... items)
      : dimensions_(sizeof...(N)), items_{static_cast<std::size_t>(items)...} {}
  /// In groups of so many, which divide the number of items; else the device decides.
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

/// As the argument of a kernel: so many bytes that the items of a group share.
struct OpenclLocal {
  std::size_t bytes = 0;
};

namespace detail {

/// The queue of a worker, as the library has it.
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
  /// With the offset in bytes. Throws UsageError if that is not in the device's memory.
  virtual OpenclBuffer where(const void* address) const = 0;
  virtual void launch(const OpenclKernel& kernel, const OpenclRange& range,
                      std::span<const Argument> arguments) = 0;
  virtual void check(int status, const char* what) const = 0;
  virtual _cl_mem* workspace() const noexcept = 0;
  virtual std::size_t workspace_bytes() const noexcept = 0;
};

template <class Parameter>
inline constexpr bool is_reduced = false;
template <class Parameter>
requires requires { Parameter::mode; }
inline constexpr bool is_reduced<Parameter> = Parameter::mode == AccessMode::reduction;

[[noreturn]] void offset_is_no_multiple(std::size_t offset, std::size_t element_bytes);

}  // namespace detail

/// The first parameter of a body for OpenCL devices: the queue of the worker that runs the task. Commands of one
/// queue are executed in their order. It is the body's until that returns.
class OpenclQueue {
 public:
  /// The library's.
  explicit OpenclQueue(const TaskContext& context) noexcept
      : launcher_(static_cast<detail::OpenclLauncher*>(context.launcher)) {}

  operator _cl_command_queue*() const noexcept { return launcher_->queue(); }
  _cl_context* context() const noexcept { return launcher_->context(); }
  _cl_device_id* device() const noexcept { return launcher_->device(); }

  /// A buffer for what kernels need beside the task's data: the queue's own, and what earlier tasks left there means
  /// nothing. So large as the device's option `workspace` says; null if that is 0.
  _cl_mem* workspace() const noexcept { return launcher_->workspace(); }
  std::size_t workspace_bytes() const noexcept { return launcher_->workspace_bytes(); }

  /// Where a parameter of the body is, data or scratch; the offset in elements. Throws UsageError if a core has it,
  /// or if the offset is no number of elements (their size is no power of two): then there is buffer_in_bytes().
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
    static_assert(!detail::is_reduced<Parameter>,
                  "Reduce is for bodies that run on cores: partial results are set up and folded there");
    return launcher_->where(address_of(parameter));
  }

  /// Runs a kernel. Arguments are buffers (a cl_mem), numbers as the kernel has them (std::size_t is its ulong), or
  /// OpenclLocal. Throws SystemError if the kernel does not compile, with what the compiler says, or is refused.
  template <class... A>
  void run(const OpenclKernel& kernel, const OpenclRange& range, const A&... arguments) const {
    const std::array<detail::OpenclLauncher::Argument, sizeof...(A)> all{argument(arguments)...};
    launcher_->launch(kernel, range, all);
  }

  /// For what is called directly: throws SystemError, with the device and the error's name, if the status is not
  /// CL_SUCCESS.
  void check(int status, const char* what) const { launcher_->check(status, what); }

 private:
  template <class Parameter>
  static auto address_of(const Parameter& parameter) noexcept {
    if constexpr (requires { parameter.data(); }) {
      return parameter.data();
    } else {
      return parameter.operator->();  // a single value; nobody here looks at it
    }
  }
  template <class A>
  static detail::OpenclLauncher::Argument argument(const A& value) noexcept {
    static_assert(std::is_trivially_copyable_v<A>, "an argument of a kernel is a buffer or a number");
    return {sizeof(A), &value};
  }
  static detail::OpenclLauncher::Argument argument(const OpenclLocal& local) noexcept {
    return {local.bytes, nullptr};
  }

  detail::OpenclLauncher* launcher_;
};

}  // namespace fairlead
