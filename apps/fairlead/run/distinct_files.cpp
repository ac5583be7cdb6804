// Files that exist are compared by device and inode, others by the path that is left when links are followed.
#include "fairlead/run/distinct_files.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>

#include "data/matrix/formats.hpp"
#include "schedule/plugin.hpp"
#include "schedule/policies.hpp"

namespace fairlead::app {

namespace {

/// The file that a write to `name` would create or change. Links may be dangling.
std::filesystem::path place_of(const std::string& name, std::error_code& error) {
  std::filesystem::path path = std::filesystem::absolute(name, error);
  for (int links = 0; links < 40 && std::filesystem::is_symlink(path, error); ++links)
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  return std::filesystem::weakly_canonical(path, error);
}

bool same(const std::string& one, const std::string& other) {
  struct stat a {
  }, b{};
  const bool a_is_there = ::stat(one.c_str(), &a) == 0, b_is_there = ::stat(other.c_str(), &b) == 0;
  if (a_is_there != b_is_there) return false;
  if (a_is_there) return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  std::error_code error;
  const auto place = place_of(one, error);
  return place == place_of(other, error) && !place.empty();
}

constexpr std::string_view read[] = {"recorded", "machine", "cuda-kernels", "blas"};
constexpr std::string_view written[] = {"json",        "report", "trace",       "event-log",
                                        "record-flow", "csv",    "machine-file"};

/// Schedulers are separated by commas; options follow the file of one.
void add_policies(const std::string& schedulers, std::vector<NamedFile>& inputs) {
  std::istringstream list(schedulers);
  for (std::string one; std::getline(list, one, ',');)
    if (const auto name = schedule::name_in(one); schedule::is_plugin(name))
      inputs.push_back({"--scheduler", std::string(name)});
}

/// `none` of cuda-kernels is not a path, nor is the name of a BLAS, which is searched for.
bool is_path(std::string_view key, const std::string& value) {
  if (key == "cuda-kernels") return value != "none";
  return key != "blas" || value.find('/') != std::string::npos;
}

/// Adds the files that the settings name, and the configuration file.
void add_files_of(const Config& config, std::vector<NamedFile>& inputs, std::vector<NamedFile>& outputs) {
  for (const SettingReport& row : config.report()) {
    const std::string_view key = row.setting.key;
    if (row.origin == Origin::file)
      inputs.push_back({"the configuration file", row.where.substr(0, row.where.rfind(':'))});
    if (!config.has(key)) continue;
    if (std::ranges::find(written, key) != std::end(written))
      outputs.push_back({fmt::format("--{}", key), config.text(key)});
    else if (key == "scheduler")
      add_policies(config.text(key), inputs);
    else if (std::ranges::find(read, key) != std::end(read) && is_path(key, config.text(key)))
      inputs.push_back({fmt::format("--{}", key), config.text(key)});
  }
}

}  // namespace

void require_distinct_files(const Config& config, std::vector<NamedFile> inputs,
                            std::vector<NamedFile> outputs) {
  add_files_of(config, inputs, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& output = outputs[i];
    for (const NamedFile& input : inputs)
      if (!output.may_replace && same(output.path, data::matrix_path(input.path)))
        throw ConfigError(fmt::format("{} {} is the same file as {} {}, which is read: it would be lost{}",
                                      output.option, output.path, input.option, input.path,
                                      output.option == "-o" ? "; --overwrite allows that" : ""));
    for (std::size_t j = 0; j < i; ++j)
      if (same(output.path, outputs[j].path))
        throw ConfigError(fmt::format("{} {} and {} {} are the same file: one would replace the other",
                                      outputs[j].option, outputs[j].path, output.option, output.path));
  }
}

}  // namespace fairlead::app
