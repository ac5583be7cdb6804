// A flow: tasks submitted in program order (sequential task flow). Their accesses to data determine which tasks may run
// at the same time.
#pragma once
#include <fairlead/checkpointed_state.hpp>
#include <fairlead/codelet.hpp>
#include <fairlead/hold.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/source_line.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fairlead {

namespace ptg {
class Graph;
}

class Flow {
 public:
  explicit Flow(Runtime& runtime);
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;
  /// Waits for the flow's tasks, except inside a body or in another thread. Failures that no wait() has thrown are
  /// reported on standard error.
  ~Flow();

  /// Submits a task, which may start immediately. If too many tasks are unfinished, the calling thread runs tasks
  /// first. Throws FootprintError if the task's data do not fit into any empty memory node. Throws UsageError if the
  /// task reads a datum without a value or uses data of another runtime, inside a body, and in a thread other than the
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
  /// The same; the future can be used to wait for this task alone.
  template <class... P>
  [[nodiscard]] Future future(const Call<P...>& call, SourceLine where = SourceLine::current()) {
    return insert_extended(submitted_at(call, where), call.codelet(), {});
  }
  template <class... P>
  [[nodiscard]] Future future(const ExtendedCall<P...>& call, SourceLine where = SourceLine::current()) {
    return insert_extended(submitted_at(call.call(), where), call.call().codelet(), call.extras());
  }
  /// Acquires data for the program, all of them or none, in program order. The hold has the values that earlier tasks
  /// leave; later tasks with conflicting accesses wait until it is released. The calling thread runs tasks while it
  /// waits. Throws as submit(); also throws TaskError if a value is missing because its task failed or the flow was
  /// cancelled, UsageError if the wait is for data that this thread itself holds, and FootprintError if the held data
  /// and the largest unfinished task do not fit into memory together.
  template <detail::AnyWanted... W>
  [[nodiscard]] Hold<typename W::Parameter...> acquire(const W&... wanted) {
    const auto uses = uses_of(wanted...);
    return {acquire_uses(uses, first_place(wanted...)), {W::Parameter::stored(wanted.handle)...}};
  }
  /// Like acquire(), without waiting: a thread of the runtime calls `callback(hold)` when the data are available. If
  /// they will not be, the hold is empty and its get() throws the reason. The data are released with the hold, which
  /// the callback may move. What a callback may do: docs/concepts.md.
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
  /// Waits until all tasks are finished and their callbacks have returned; the calling thread runs tasks in the
  /// meantime. Throws TaskError for the first failure, with the exception nested: the task, its data, the source line,
  /// and the number of other tasks that failed or did not run. Throws UsageError, naming the task and the hold, if a
  /// task waits for data that this thread holds.
  void wait();
  /// With the setting `checkpoint`: checkpoints cover the tasks submitted from now on, up to the next wait(), which must not
  /// depend on values of data. Returns how many of them are finished: these are skipped when they are submitted again, and
  /// their data get the saved values. `identity`: pairs of a property and its value; a checkpoint with others is refused.
  /// All tasks must have finished. A second call starts another computation, without a checkpoint. Throws InputError if the
  /// checkpoint is of another computation. Later calls may throw it, too, and CheckpointStop after stop_after_checkpoint().
  /// Returns 0 without the setting. `state`: what the tasks change apart from data.
  std::uint64_t use_checkpoints(const std::vector<std::pair<std::string, std::string>>& identity,
                                const CheckpointedState& state = {});
  /// Cancels the tasks that have not started; wait() then reports the cancellation. Thread-safe.
  void cancel();
  /// With several ranks: ranks that have only a copy of this value discard it after the tasks submitted so far, which
  /// frees its memory. Later readers get the value again. Collective: all ranks call it.
  template <class T>
  void drop_copies(const Handle<T>& handle, SourceLine where = SourceLine::current()) {
    drop_copies_of(handle.datum(), where);
  }

  std::uint64_t submitted() const noexcept;
  /// The number of finished tasks. Thread-safe.
  std::uint64_t done() const noexcept;

 private:
  friend class ptg::Graph;  // submits tasks
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
