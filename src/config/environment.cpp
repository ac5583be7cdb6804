// The only source file that reads the environment.
#include "config/environment.hpp"

#include "base/suggest.hpp"
#include "config/schema.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>

namespace fairlead::config {

Environment process_environment() {
  Environment variables;
  for (char** line = environ; line != nullptr && *line != nullptr; ++line) {
    const std::string_view text(*line);
    const std::size_t equals = text.find('=');
    if (equals != text.npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::string variable_of(std::string_view key) {
  std::string name = "FAIRLEAD_";
  for (const char c : key)
    name += c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

void read_environment(const Environment& environment, Config& config) {
  constexpr std::string_view prefix = "FAIRLEAD_";
  std::vector<std::string_view> keys;
  for (const Setting& setting : schema()) keys.push_back(setting.key);
  for (const RenamedSetting& setting : renamed_settings()) keys.push_back(setting.former);
  std::vector<std::string> variables{"FAIRLEAD_CONFIG"};
  for (const std::string_view key : keys) variables.push_back(variable_of(key));
  for (auto it = environment.lower_bound(prefix); it != environment.end() && it->first.starts_with(prefix);
       ++it) {
    const auto& [name, text] = *it;
    const auto known = std::ranges::find(variables, name);
    if (known == variables.end()) {
      // Compare without the prefix, which would make all names similar.
      std::vector<std::string_view> endings;
      for (const std::string& variable : variables)
        endings.push_back(std::string_view(variable).substr(prefix.size()));
      throw ConfigError(
          fmt::format("unknown environment variable {}{}", name,
                      did_you_mean(std::string_view(name).substr(prefix.size()), endings, prefix)));
    }
    if (known == variables.begin()) continue;  // FAIRLEAD_CONFIG names the file
    const std::string_view key = keys[static_cast<std::size_t>(known - variables.begin()) - 1];
    ConfigBuilder::assign(config, key, text, Origin::environment, name, fmt::format("{}={}", name, text));
  }
}

std::string c_compiler(const Environment& environment) {
  const auto found = environment.find("CC");
  const bool is_set =
      found != environment.end() && found->second.find_first_not_of(" \t") != std::string::npos;
  return is_set ? found->second : "cc";
}

}  // namespace fairlead::config
