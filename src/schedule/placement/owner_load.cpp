// owner-load: the load rule places data. PaRSEC 2025 (placement), section 3.1, "Load-based data placement strategy";
// the paper's variants "skew=0" and "skew=1" are tolerance=reuse-only and tolerance=load-only.
#include "schedule/placement/owner_compute.hpp"
#include "schedule/placement/placement.hpp"

namespace fairlead::schedule {

std::unique_ptr<Policy> make_owner_load(const PolicyOptions& options) {
  return std::make_unique<OwnerCompute>(options);
}

}  // namespace fairlead::schedule
