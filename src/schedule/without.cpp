// The policy within sees a machine on which these workers can run nothing.
#include "schedule/without.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/forwarding_policy.hpp"
#include "policy/forwarding_view.hpp"
#include "schedule/policies.hpp"

namespace fairlead::schedule {
namespace {

class Narrowed final : public ForwardingView {
 public:
  Narrowed(View& outer, const std::vector<std::size_t>& left_out)
      : ForwardingView(outer), left_out_(outer.workers().size(), false) {
    for (const std::size_t worker : left_out)
      if (worker < left_out_.size()) left_out_[worker] = true;
  }
  bool can_run(const Task& task, WorkerId worker) const override {
    return ForwardingView::can_run(task, worker) && (!left_out_[index(worker)] || !another_can(task));
  }

 private:
  bool another_can(const Task& task) const {
    return std::ranges::any_of(workers(), [&](const WorkerInfo& worker) {
      return !left_out_[index(worker.id)] && ForwardingView::can_run(task, worker.id);
    });
  }
  std::vector<bool> left_out_;  // by worker
};

class Without final : public ForwardingPolicy<Without> {
 public:
  Without(std::unique_ptr<Policy> inner, std::vector<std::size_t> left_out)
      : ForwardingPolicy(std::move(inner)), left_out_(std::move(left_out)) {}
  bool keeps_local_queues() const override { return false; }

 private:
  void attached() override { inner().attach(narrowed_.emplace(view(), left_out_)); }

  const std::vector<std::size_t> left_out_;
  std::optional<Narrowed> narrowed_;
};

std::vector<std::size_t> numbers_in(const PolicyOptions& options) {
  const std::string& text = options.text("workers");
  std::vector<std::size_t> numbers;
  for (const char *at = text.data(), *const end = at + text.size();; ++at) {
    std::size_t number = 0;
    const auto [behind, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || (behind != end && *behind != '+'))
      options.refuse("workers",
                     fmt::format("is \"{}\", and has to be numbers of workers, as in 3+4+5", text));
    numbers.push_back(number);
    if ((at = behind) == end) return numbers;
  }
}

}  // namespace

std::unique_ptr<Policy> make_without(const PolicyOptions& options) {
  const std::string& name = options.text("policy");
  if (name_in(name) == "without") options.refuse("policy", "cannot be itself");
  return std::make_unique<Without>(make_policy(name), numbers_in(options));
}

}  // namespace fairlead::schedule
