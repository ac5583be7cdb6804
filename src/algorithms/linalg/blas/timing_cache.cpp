// The file format: the key, then one line per candidate, fields separated by tabs.
#include "algorithms/linalg/blas/timing_cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace fairlead::linalg {
namespace {

constexpr SharedFile::Format format{
    "fairlead-blas-timings", 3,
    "Made by timing each candidate once. Delete this file to have it done again."};

/// Identifies the content of the file at `path`; also changes if a link points to another file.
std::string identity(const std::string& path) {
  struct stat state {};
  if (::stat(path.c_str(), &state) != 0) return "none";
  return fmt::format("{}.{:09}-{}", state.st_mtim.tv_sec, state.st_mtim.tv_nsec, state.st_size);
}

std::vector<std::string> key_lines(const TimingKey& key) {
  std::string flags;
  for (const auto& flag : key.processor.flags) flags += flag + " ";
  std::string libraries = "libraries";
  for (const auto& library : key.libraries) libraries += "\t" + one_field(library);
  return {"processor\t" + one_field(key.processor.model), fmt::format("flags\t{:016x}", text_hash(flags)),
          fmt::format("tile\t{}", key.tile), libraries, "inherited\t" + one_field(key.inherited_core_type)};
}

std::filesystem::path path_of(const std::filesystem::path& directory, const TimingKey& key) {
  std::string text;
  for (const auto& line : key_lines(key)) text += line + "\n";
  return directory / fmt::format("blas-timings-{:016x}.txt", text_hash(text));
}

/// Rejects entries that name a library or an environment variable outside the known candidates: a cache file must not
/// make this program load arbitrary libraries.
bool is_known(const TimingKey& key, const std::vector<std::string>& field) {
  constexpr std::array<std::string_view, 3> variables{"", "OPENBLAS_CORETYPE", "BLIS_ARCH_TYPE"};
  return std::ranges::find(key.libraries, field[1]) != key.libraries.end() &&
         (field[0] == "failure" || (std::ranges::find(variables, field[3]) != variables.end() &&
                                    std::ranges::find(variables, field[8]) != variables.end()));
}

std::optional<double> rate(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0)) return {};
  return value;
}

}  // namespace

TimingCache::TimingCache(const std::filesystem::path& directory, TimingKey key)
    : key_(std::move(key)), file_(path_of(directory, key_), format), lock_(file_) {}

std::optional<BlasTimings> TimingCache::read() const {
  const auto lines = file_.read().lines;
  const auto key = key_lines(key_);
  if (lines.size() < key.size() || !std::equal(key.begin(), key.end(), lines.begin())) return {};
  BlasTimings result;
  for (std::size_t i = key.size(); i < lines.size(); ++i) {
    const auto field = fields_of(lines[i]);
    const bool whole =
        (field[0] == "failure" && field.size() == 4) || (field[0] == "timing" && field.size() == 17);
    if (!whole || !is_known(key_, field)) return {};
    if (field[0] == "failure") {
      result.failures.push_back({{field[1], field[2]}, field[3]});
    } else {
      std::array<double, 8> rates{};
      for (std::size_t k = 0; k < rates.size(); ++k) rates[k] = rate(field[9 + k]).value_or(0);
      const BlasTiming timing{{field[1], field[2], field[3], field[4]},
                              field[5],
                              field[7],
                              field[8],
                              {rates[0], rates[1], rates[2], rates[3]},
                              {rates[4], rates[5], rates[6], rates[7]}};
      if (timing.gflops() <= 0 || identity(field[5]) != field[6]) return {};
      result.timings.push_back(timing);
    }
  }
  if (result.timings.empty()) return {};
  return result;
}

void TimingCache::write(const BlasTimings& timings) const {
  auto lines = key_lines(key_);
  for (const auto& one : timings.timings) {
    lines.push_back(fmt::format("timing\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", one_field(one.candidate.library),
                                one_field(one.candidate.core_type), one.candidate.variable,
                                one_field(one.candidate.number), one_field(one.path), identity(one.path),
                                one_field(one.core_type), one_field(one.variable)));
    for (const KernelRates& rates : {one.rates, one.own_rates})
      lines.back() +=
          fmt::format("\t{:.3f}\t{:.3f}\t{:.3f}\t{:.3f}", rates.gemm, rates.syrk, rates.trsm, rates.potrf);
  }
  for (const auto& [candidate, reason] : timings.failures)
    lines.push_back(fmt::format("failure\t{}\t{}\t{}", one_field(candidate.library),
                                one_field(candidate.core_type), one_field(reason)));
  file_.replace(lines);
}

}  // namespace fairlead::linalg
