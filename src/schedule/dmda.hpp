// A ready task goes to the queue of the worker where it is expected to be over first: dmda and dmdas, and
// with other rules the policies of heft.hpp.
#pragma once
#include <array>
#include <cstdint>
#include <memory>

#include "policy/policy.hpp"
#include "policy/policy_options.hpp"

namespace fairlead::schedule {

/// What the policies of this family differ in. As it stands: dmda.
struct DmdaRules {
  enum class Order : std::uint8_t {
    fifo,            // a worker takes the first of its queue
    ready,           // that which misses the fewest bytes on its node, of equal ones the most urgent
    ready_of_first,  // of those of the highest priority, that which misses the fewest
  };
  enum class Bound : std::uint8_t {
    nothing,
    first_writes,  // tasks whose datum nobody wrote before go where StaticPlacement puts it
    everything,    // all tasks do
  };

  Order order = Order::fifo;
  Bound bound = Bound::nothing;
  double transfers = 1;  ///< by how much their time is multiplied before it is added; 0: it does not count
  bool prefetch = true;  ///< what tasks in the queue read may come before they are picked
};

std::unique_ptr<Policy> make_dmda(const DmdaRules& rules);

std::unique_ptr<Policy> make_dmda();
inline constexpr std::array dmdas_options{PolicyOption{
    "ready", "all",
    "among which tasks of its queue a worker takes the one that misses the fewest bytes: all, or "
    "those of the first priority"}};
std::unique_ptr<Policy> make_dmdas(const PolicyOptions& options);

}  // namespace fairlead::schedule
