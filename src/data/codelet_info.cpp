// Adds and names the implementations of a codelet.
#include <fairlead/codelet_info.hpp>

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/random.hpp"
#include "base/shared_file.hpp"

namespace fairlead {

namespace {
constexpr std::size_t longest_name = 1023;  // limit of the event logs
constexpr std::array<const char*, worker_kind_count> workers_text{"CPU cores", "emulated accelerators",
                                                                  "CUDA devices", "OpenCL devices"};
}  // namespace

void CodeletInfo::implement(WorkerKind kind, Implementation implementation) {
  // Mixed, so that implementation "a" of codelet "b" and implementation "b" of codelet "a" get different hashes.
  implementation.hash_of_name = implementation.name.empty() ? 0 : Random::mix(text_hash(implementation.name));
  if (implementation.name.size() > longest_name)
    throw UsageError(fmt::format("the codelet {} has a body whose name has {} bytes; {} are allowed", name,
                                 implementation.name.size(), longest_name));
  const auto place = static_cast<std::size_t>(kind);
  const std::size_t known = count(kind);
  if (known == 0) {
    implementations[place] = std::move(implementation);
    kinds |= 1u << static_cast<unsigned>(kind);
    return;
  }
  auto& further = further_implementations[place];
  const auto same = [&](const Implementation& one) { return one.name == implementation.name; };
  if (same(implementations[place]) || std::ranges::any_of(further, same))
    throw UsageError(
        implementation.name.empty()
            ? fmt::format(
                  "the codelet {} has two bodies without a name for {}\n  Give them names, so that the "
                  "runtime can choose between them, as in (\"blas\", body).",
                  name, workers_text[place])
            : fmt::format("the codelet {} has two bodies named \"{}\" for {}\n  Durations are kept by "
                          "name: give each a different one.",
                          name, implementation.name, workers_text[place]));
  if (known == most_implementations)
    throw UsageError(fmt::format("the codelet {} has more than {} bodies for {}", name, most_implementations,
                                 workers_text[place]));
  further.push_back(std::move(implementation));
  choices |= 1u << static_cast<unsigned>(kind);
}

std::string CodeletInfo::text(WorkerKind kind, std::size_t number) const {
  if (!has_choice(kind) || number == no_implementation) return name;
  const std::string& chosen = for_kind(kind, number).name;
  return fmt::format("{} ({})", name, chosen.empty() ? "without a name" : chosen);
}

}  // namespace fairlead
