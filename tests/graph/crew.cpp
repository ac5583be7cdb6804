// See crew.hpp.
#include "graph/crew.hpp"

#include <utility>

namespace fairlead::tests {

Crew::Crew(graph::DependencyGraph& graph, std::size_t workers, std::uint64_t seed,
           std::function<void(Task&)> body)
    : graph_(graph), body_(std::move(body)), submitter_(graph, seed) {
  for (std::size_t i = 0; i < workers; ++i) threads_.emplace_back([this, seed, i] { work(seed + i + 1); });
}

Crew::~Crew() {
  {
    const std::lock_guard guard(mutex_);
    over_ = true;
  }
  more_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Crew::submit(Task& task, std::span<const graph::Insertion> accesses) {
  ++submitted_;
  if (!graph_.insert(task, accesses)) return;
  submitter_.ready.append(task);
  keep_or_share(submitter_);
}

/// The submitter shares all tasks, since it may not run tasks for long; workers share if the queue is empty, or at
/// random.
void Crew::keep_or_share(Mate& mate) {
  std::vector<Task*> given;
  for (Event* event = mate.ready.take_in_order(); event != nullptr;) {
    Event* following = event->next;
    const bool keep = &mate != &submitter_ && (mate.own.empty() || mate.random.once_in(3));
    (keep ? mate.own : given).push_back(static_cast<Task*>(event));
    event = following;
  }
  if (given.empty()) return;
  {
    const std::lock_guard guard(mutex_);
    queue_.insert(queue_.end(), given.begin(), given.end());
    shared_.store(queue_.size(), std::memory_order_relaxed);
  }
  more_.notify_all();
}

Task* Crew::take(Mate& mate) {
  if (!mate.own.empty() && (shared_.load(std::memory_order_relaxed) == 0 || !mate.random.once_in(3))) {
    std::swap(mate.own[mate.random.below(mate.own.size())], mate.own.back());
    Task* task = mate.own.back();
    mate.own.pop_back();
    return task;
  }
  const std::lock_guard guard(mutex_);
  auto& from = queue_.empty() ? mate.own : queue_;
  if (from.empty()) return nullptr;
  std::swap(from[mate.random.below(from.size())], from.back());
  Task* task = from.back();
  from.pop_back();
  shared_.store(queue_.size(), std::memory_order_relaxed);
  return task;
}

void Crew::run(Mate& mate, Task& task) {
  body_(task);
  graph::DependencyGraph::complete(task, mate.ready, mate.recycler);
  mate.recycler.recycle(task);
  // Before a thread can sleep on it: a thread that sees the queue empty and all others asleep must see the count.
  done_.fetch_add(1, std::memory_order_relaxed);
  keep_or_share(mate);
}

void Crew::work(std::uint64_t seed) {
  Mate mate(graph_, seed);
  for (;;) {
    if (Task* task = take(mate)) {
      run(mate, *task);
      continue;
    }
    std::unique_lock lock(mutex_);
    if (!queue_.empty()) continue;
    if (over_) return;
    ++asleep_;
    more_.notify_all();
    more_.wait(lock, [this] { return over_ || !queue_.empty(); });
    --asleep_;
  }
}

bool Crew::help(std::size_t allowed) {
  while (unfinished() > allowed) {
    if (Task* task = take(submitter_)) {
      run(submitter_, *task);
      continue;
    }
    std::unique_lock lock(mutex_);
    more_.wait(lock, [&] { return !queue_.empty() || asleep_ == threads_.size(); });
    if (queue_.empty() && asleep_ == threads_.size() && unfinished() > allowed) return false;
  }
  return true;
}

bool Crew::finish() {
  const bool done = help(0);
  {
    const std::lock_guard guard(mutex_);
    over_ = true;
  }
  more_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  submitter_.recycler.flush();
  return done;
}

}  // namespace fairlead::tests
