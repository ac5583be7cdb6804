// The list of all policies. A new policy is one file and one line here.
#include "schedule/policies.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include "base/suggest.hpp"
#include "schedule/ap.hpp"
#include "schedule/blocks/blocks.hpp"
#include "schedule/darts/darts.hpp"
#include "schedule/darts/darts_ahead.hpp"
#include "schedule/dmda.hpp"
#include "schedule/eager.hpp"
#include "schedule/excluding_workers.hpp"
#include "schedule/heft.hpp"
#include "schedule/heteroprio/heteroprio.hpp"
#include "schedule/lfq.hpp"
#include "schedule/lws.hpp"
#include "schedule/placement/placement.hpp"
#include "schedule/plugin.hpp"
#include "schedule/priority_order.hpp"
#include "schedule/reserve_for_fastest.hpp"
#include "schedule/what_if/what_if_policy.hpp"

namespace fairlead::schedule {
namespace {

/// Adapts a policy without options.
template <std::unique_ptr<Policy> (*make)()>
std::unique_ptr<Policy> without_options(const PolicyOptions&) {
  return make();
}

/// Adapts a policy that ignores durations: see reserve_for_fastest.hpp.
template <std::unique_ptr<Policy> (*make)()>
std::unique_ptr<Policy> with_reservation(const PolicyOptions&) {
  return reserve_for_fastest(make());
}
template <std::unique_ptr<Policy> (*make)(const PolicyOptions&)>
std::unique_ptr<Policy> with_reservation(const PolicyOptions& options) {
  return reserve_for_fastest(make(options));
}

constexpr std::array list = {
    PolicyEntry{"eager", "first come, first served, from one queue", with_reservation<make_eager>,
                eager_options},
    PolicyEntry{"lws", "locality work stealing: queues by priority where tasks were released",
                with_reservation<make_lws>},
    PolicyEntry{"lfq", "local queues, each behind a buffer of tasks that cannot be stolen",
                with_reservation<make_lfq>, lfq_options},
    PolicyEntry{"dmda", "the worker with the earliest expected completion, transfers included", make_dmda,
                dmda::options},
    PolicyEntry{"dmdas", "dmda by priority; a worker takes the task with the fewest missing bytes",
                make_dmdas, dmda::options_by_priority},
    PolicyEntry{"near", "dmdas, with queue lengths by the durations of tasks alone",
                without_options<make_near>},
    PolicyEntry{"nearer", "near, counting a task's transfers twice", without_options<make_nearer>},
    PolicyEntry{"urgent", "one queue by priority; a worker gets a task only when it is free",
                without_options<make_urgent>},
    PolicyEntry{"program-order", "urgent, where equally urgent tasks run in the order of the program",
                without_options<make_program_order>},
    PolicyEntry{"heteroprio",
                "buckets by the speed of each kind of worker; slow kinds leave the last tasks to fast ones",
                make_heteroprio, heteroprio_options},
    PolicyEntry{"laheteroprio", "heteroprio with lists by memory node; a task goes where its data suit best",
                make_laheteroprio, laheteroprio_options},
    PolicyEntry{"heft-tm", "the worker with the earliest expected completion, without transfers",
                make_heft_tm},
    PolicyEntry{"heft-tm-pr", "heft-tm, with prefetch of the data of assigned tasks", make_heft_tm_pr},
    PolicyEntry{"heft-tmdp", "the worker with the earliest expected completion, with a penalty for transfers",
                make_heft_tmdp, heft::of_tmdp},
    PolicyEntry{"heft-tmdp-pr", "heft-tmdp, with prefetch of the data of assigned tasks", make_heft_tmdp_pr,
                heft::of_tmdp},
    PolicyEntry{"static", "tasks are bound to workers by the tiles that they write", make_static,
                heft::of_static},
    PolicyEntry{"heft-tm-init", "static for the first task that writes a datum, then heft-tm",
                make_heft_tm_init, heft::of_static},
    PolicyEntry{"heft-tmdp-init", "static for the first task that writes a datum, then heft-tmdp",
                make_heft_tmdp_init, heft::of_tmdp_init},
    PolicyEntry{"ap", "one queue by bottom level: the critical path first", with_reservation<make_ap>},
    PolicyEntry{"ap-dplasma", "one queue by the priorities of DPLASMA's Cholesky factorization",
                with_reservation<make_ap_dplasma>},
    PolicyEntry{"darts", "loads the data that enable the most work, evicts those that plans use least",
                with_reservation<make_darts>, darts::options},
    PolicyEntry{"darts-belady", "darts, evicting the data that its plans use last",
                with_reservation<make_darts_belady>, darts::options},
    PolicyEntry{"darts-chain", "darts, weighing a tile by all its updates that could run",
                with_reservation<make_darts_chain>, darts::options},
    PolicyEntry{"darts-defer", "darts, loading a tile only when two updates could run",
                with_reservation<make_darts_defer>, darts::options},
    PolicyEntry{"blocks", "plans sets of tiles whose updates run back to back, evicts by the plan",
                without_options<make_blocks>},
    PolicyEntry{"what-if",
                "simulates the remaining tasks under several policies, and switches to the fastest",
                make_what_if, what_if::options},
    PolicyEntry{"owner-load", "the device that owns the written data; owners by load, near what is read",
                make_owner_load, owner_options},
    PolicyEntry{"owner-user", "the device that owns the written data; owners by the program's hints",
                make_owner_user, owner_options},
    PolicyEntry{"owner-random", "the device that owns the written data; random owners", make_owner_random,
                owner_random_options},
    // The last policies are not listed to users: the default policy uses them.
    PolicyEntry{"without", "another policy, on some of the workers", make_without,
                excluding_workers::options},
};
constexpr std::size_t unlisted_count = 1;

// With fewer cores, a rank's workers pick few tasks ahead, and urgent and near differ only in their prefetches
// (docs/default-policy.md).
constexpr std::size_t several_cores = 4;

constexpr std::string_view former_name_of_what_if = "rehearsed";

}  // namespace

std::span<const PolicyEntry> policies() { return std::span(list).first(list.size() - unlisted_count); }

std::string_view name_in(std::string_view written) noexcept {
  const std::string_view name = written.substr(0, written.find(':'));
  return name == former_name_of_what_if ? "what-if" : name;
}

std::string renaming_note(std::string_view written) {
  if (!written.starts_with(former_name_of_what_if) || name_in(written) != "what-if") return {};
  return fmt::format("the scheduler {} is now called what-if; the old name will be removed after 0.1",
                     former_name_of_what_if);
}

std::vector<std::string_view> policy_names() {
  std::vector<std::string_view> names;
  for (const PolicyEntry& entry : policies()) names.push_back(entry.name);
  return names;
}

std::unique_ptr<Policy> make_policy(std::string_view written) {
  const std::string_view name = name_in(written);
  const std::size_t colon = written.find(':');
  const std::string_view options = colon == written.npos ? std::string_view() : written.substr(colon + 1);
  if (is_plugin(name)) {
    const PolicyEntry& entry = load_plugin(name);
    std::unique_ptr<Policy> made = entry.make(PolicyOptions(name, entry.options, options));
    if (made == nullptr)
      throw ConfigError(fmt::format("the plug-in {} makes no policy: its `make` returns null", name));
    return made;
  }
  const PolicyEntry* found = std::ranges::find(list, name, &PolicyEntry::name);
  if (found == list.end())
    throw ConfigError(fmt::format("unknown scheduler \"{}\"{}; known: {}", name,
                                  did_you_mean(name, policy_names()), fmt::join(policy_names(), ", ")));
  return found->make(PolicyOptions(name, found->options, options));
}

std::string_view default_policy(const PolicySelectionInput& circumstances) noexcept {
  if (circumstances.devices) return "what-if";
  if (circumstances.several_ranks)
    return circumstances.fits && circumstances.cores >= several_cores ? "urgent" : "near";
  return circumstances.fits ? "lws" : "what-if";
}

}  // namespace fairlead::schedule
