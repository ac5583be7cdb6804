// A flow: tasks inserted in program order. Which may run at the same time follows from how they use their
// data.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/hold.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/source_line.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

namespace fairlead {

class Flow {
 public:
  explicit Flow(Runtime& runtime);
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;
  /// Waits for its tasks, except inside a body or in another thread. Failures that wait() has not told are
  /// lost.
  ~Flow();

  /// Inserts a task. It may run from now on; the caller helps while too many are unfinished. Throws
  /// FootprintError if no empty memory node could hold all it uses, UsageError if it reads what nothing has
  /// written, uses data of another runtime, or is called inside a body or by another thread than the
  /// runtime's.
  template <class... P>
  void submit(const Call<P...>& call, SourceLine where = SourceLine::current()) {
    insert(submitted_at(call, where), call.codelet());
  }
  /// The same for a call with after() or on_done().
  template <class... P>
  void submit(const ExtendedCall<P...>& call, SourceLine where = SourceLine::current()) {
    insert_extended(submitted_at(call.call(), where), call.call().codelet(), call.extras());
  }
  /// The same, and the task can be waited for by itself.
  template <class... P>
  [[nodiscard]] Future future(const Call<P...>& call, SourceLine where = SourceLine::current()) {
    return insert_extended(submitted_at(call, where), call.codelet(), {});
  }
  template <class... P>
  [[nodiscard]] Future future(const ExtendedCall<P...>& call, SourceLine where = SourceLine::current()) {
    return insert_extended(submitted_at(call.call(), where), call.call().codelet(), call.extras());
  }
  /// Gives data to the program, all of them or none, in program order: they have the values of the tasks
  /// before, and tasks submitted afterwards that may not run beside it wait for its release. Works meanwhile.
  /// Throws as submit(); also TaskError if a value is missing since its task failed or the flow was
  /// cancelled, UsageError if it would wait for what this thread holds, FootprintError if what is held and
  /// the largest unfinished task do not fit into memory together.
  template <detail::AnyWanted... W>
  [[nodiscard]] Hold<typename W::Parameter...> acquire(const W&... wanted) {
    const auto uses = uses_of(wanted...);
    return {acquire_uses(uses, first_place(wanted...)), {W::Parameter::stored(wanted.handle)...}};
  }
  /// The same without waiting: `callback(hold)` is called when the data are there, by a thread of the
  /// runtime, or when they cannot be had; then the hold is empty, and its get() says why. The data are
  /// released with the hold, which may be moved away. See docs/concepts.md for what a callback may do.
  template <class Callback, detail::AnyWanted... W>
  void acquire_then(Callback callback, const W&... wanted) {
    const auto uses = uses_of(wanted...);
    using Given = Hold<typename W::Parameter...>;
    acquire_uses_then(
        uses, first_place(wanted...),
        [callback = std::move(callback),
         stored = typename Given::Stored{W::Parameter::stored(wanted.handle)...}](
            std::shared_ptr<detail::HoldState> state) mutable { callback(Given(std::move(state), stored)); });
  }
  /// Works until all tasks are over and their callbacks have returned. Throws TaskError for the first that
  /// failed, nesting its exception: the task, its data, where it was submitted, and how many others failed or
  /// were not run. Throws UsageError, naming both, if a task waits for what this thread holds.
  void wait();
  /// Tasks that have not started will not run; wait() then says so. Any thread may call it.
  void cancel();
  /// Over ranks: tasks that were submitted were the last to read this value on ranks that have only a copy of it, so
  /// that its place there can be used for others. Who reads it later gets it once more. Called by all ranks.
  template <class T>
  void drop_copies(const Handle<T>& handle, SourceLine where = SourceLine::current()) {
    drop_copies_of(handle.datum(), where);
  }

  std::uint64_t submitted() const noexcept;
  /// Tasks that are over; any thread may ask.
  std::uint64_t done() const noexcept;

 private:
  class Implementation;
  template <class... P>
  static detail::Submission submitted_at(const Call<P...>& call, SourceLine where) {
    detail::Submission submission = call.submission();
    submission.file = where.file_name();
    submission.line = where.line();
    return submission;
  }
  void insert(const detail::Submission& submission, const std::shared_ptr<const CodeletInfo>& codelet);
  Future insert_extended(const detail::Submission& submission,
                         const std::shared_ptr<const CodeletInfo>& codelet, const detail::Extras& extras);
  template <class... W>
  static std::array<detail::Submission::Use, sizeof...(W)> uses_of(const W&... wanted) {
    static_assert(sizeof...(W) > 0, "an acquire names at least one datum");
    return {{{wanted.handle.datum().datum, W::Parameter::mode, wanted.handle.datum().generation}...}};
  }
  template <class W, class... Rest>
  static SourceLine first_place(const W& first, const Rest&...) {
    return first.where;
  }
  void drop_copies_of(const detail::DatumReference& datum, SourceLine where);
  std::shared_ptr<detail::HoldState> acquire_uses(std::span<const detail::Submission::Use> uses,
                                                  SourceLine where);
  void acquire_uses_then(std::span<const detail::Submission::Use> uses, SourceLine where,
                         std::function<void(std::shared_ptr<detail::HoldState>)> callback);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace fairlead
