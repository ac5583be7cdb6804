// What a user sets of one policy, or of one of the simulator's workloads, behind its name:
// "laheteroprio:affinity=ls_sdhb:lambda=2".
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace fairlead {

/// One thing that can be set of a policy. Its constructor is given what was, as text.
struct PolicyOption {
  std::string_view name;
  std::string_view fallback;  ///< what it is if nobody sets it
  std::string_view summary;   ///< what it means, and which values it takes
};

/// What can be asked of it is virtual for the sake of policies in plug-ins, which then need nothing of the
/// library.
class PolicyOptions {
 public:
  /// Those of a policy that has none.
  PolicyOptions() = default;
  /// `written`: what follows the first colon of "name:option=value:option=value"; may be empty. Throws
  /// ConfigError for what is not `known`, naming what comes nearest, and for what is set twice.
  PolicyOptions(std::string_view policy, std::span<const PolicyOption> known, std::string_view written,
                std::string_view kind = "scheduler");
  PolicyOptions(const PolicyOptions&) = default;
  PolicyOptions& operator=(const PolicyOptions&) = default;
  virtual ~PolicyOptions();

  /// As set, or the fallback. An option that is not known is a mistake of the policy's.
  virtual const std::string& text(std::string_view name) const;
  virtual bool given(std::string_view name) const { return given_.contains(name); }

  // These throw ConfigError that names the policy, the option and what it could be.

  /// The position among `choices` of what is set.
  virtual std::size_t choice(std::string_view name, std::span<const std::string_view> choices) const;
  virtual double number(std::string_view name, double least, double most) const;
  virtual std::int64_t integer(std::string_view name, std::int64_t least, std::int64_t most) const;
  virtual bool flag(std::string_view name) const;  ///< "yes" or "no"
  /// For a value that only its policy can judge.
  [[noreturn]] virtual void refuse(std::string_view name, std::string_view why) const;

 private:
  std::string kind_, policy_;
  std::map<std::string, std::string, std::less<>> values_;  // of all that are known
  std::map<std::string, bool, std::less<>> given_;
};

}  // namespace fairlead
