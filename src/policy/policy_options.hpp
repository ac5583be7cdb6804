// The options of one policy, or of one of the simulator's workloads, which follow its name:
// "laheteroprio:affinity=ls_sdhb:lambda=2".
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace fairlead {

/// One option of a policy.
struct PolicyOption {
  std::string_view name;
  std::string_view default_value;  ///< default value
  std::string_view summary;        ///< meaning and valid values
};

/// The getters are virtual so that policies in plug-ins need not link to the library.
class PolicyOptions {
 public:
  /// For a policy without options.
  PolicyOptions() = default;
  /// `written`: the text after the first colon of "name:option=value:option=value"; may be empty. Throws ConfigError
  /// for an option that is not in `known`, suggesting the most similar one, and for an option that is set twice.
  PolicyOptions(std::string_view policy, std::span<const PolicyOption> known, std::string_view written,
                std::string_view kind = "scheduler");
  PolicyOptions(const PolicyOptions&) = default;
  PolicyOptions& operator=(const PolicyOptions&) = default;
  virtual ~PolicyOptions();

  /// The value as text, or the default. `name` must be a known option.
  virtual const std::string& text(std::string_view name) const;
  virtual bool is_set(std::string_view name) const { return given_.contains(name); }

  // The functions below throw ConfigError naming the policy, the option and its valid values.

  /// The index of the value in `choices`.
  virtual std::size_t choice(std::string_view name, std::span<const std::string_view> choices) const;
  virtual double number(std::string_view name, double least, double most) const;
  virtual std::int64_t integer(std::string_view name, std::int64_t least, std::int64_t most) const;
  virtual bool flag(std::string_view name) const;  ///< "yes" or "no"
  /// For values that only the policy can check.
  [[noreturn]] virtual void refuse(std::string_view name, std::string_view why) const;

 private:
  std::string kind_, policy_;
  std::map<std::string, std::string, std::less<>> values_;  // of all known options
  std::map<std::string, bool, std::less<>> given_;
};

}  // namespace fairlead
