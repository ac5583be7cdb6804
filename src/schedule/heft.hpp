// StarPU's policies of 2010, by their names in the paper: heft-tm and its variants, and static. The comments at the
// functions name their options.
#pragma once
#include <array>
#include <memory>

#include "policy/policy.hpp"

namespace fairlead::schedule {

namespace heft {
inline constexpr PolicyOption beta{
    "beta", "1", "what the time of a transfer is multiplied by before it is added (0 to 1000)"};
inline constexpr PolicyOption prefetch{"prefetch", "no",
                                       "yes: what assigned tasks read is fetched before they are picked"};
inline constexpr std::array of_tmdp{beta}, of_static{prefetch};
inline constexpr std::array of_tmdp_init{beta, prefetch};
}  // namespace heft

std::unique_ptr<Policy> make_heft_tm(const PolicyOptions&);
std::unique_ptr<Policy> make_heft_tm_pr(const PolicyOptions&);
std::unique_ptr<Policy> make_heft_tm_init(const PolicyOptions&);    // of_static
std::unique_ptr<Policy> make_heft_tmdp(const PolicyOptions&);       // of_tmdp
std::unique_ptr<Policy> make_heft_tmdp_pr(const PolicyOptions&);    // of_tmdp
std::unique_ptr<Policy> make_heft_tmdp_init(const PolicyOptions&);  // of_tmdp_init
std::unique_ptr<Policy> make_static(const PolicyOptions&);          // of_static

}  // namespace fairlead::schedule
