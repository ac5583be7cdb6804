// The file: a line of explanation, the key, one line per candidate, and a checksum of all that, fields
// separated by tabs. It is written beside its place and renamed, so that readers see a whole one.
#include "algorithms/linalg/blas/timing_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fairlead/error.hpp>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace fairlead::linalg {
namespace {

constexpr std::string_view first_line =
    "fairlead-blas-timings\t1\tMade by timing each candidate once. Delete this file to have it done again.";

/// FNV-1a. Not std::hash, which may differ between two builds that share the file.
std::uint64_t checksum(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return hash;
}

/// Changes with the file at `path`, also when the path is a link that now leads elsewhere.
std::string identity(const std::string& path) {
  struct stat state {};
  if (::stat(path.c_str(), &state) != 0) return "none";
  return fmt::format("{}.{:09}-{}", state.st_mtim.tv_sec, state.st_mtim.tv_nsec, state.st_size);
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string key_text(const TimingKey& key) {
  std::string flags;
  for (const auto& flag : key.processor.flags) flags += flag + " ";
  std::string text = fmt::format("{}\nprocessor\t{}\nflags\t{:016x}\ntile\t{}\nlibraries", first_line,
                                 one_line(key.processor.model), checksum(flags), key.tile);
  for (const auto& library : key.libraries) text += "\t" + one_line(library);
  return text + "\ninherited\t" + one_line(key.inherited_core_type) + "\n";
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = line.find('\t', begin);
    fields.push_back(line.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return fields;
}

std::optional<double> rate(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0)) return {};
  return value;
}

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  throw SystemError(fmt::format("cannot {} \"{}\": {}", what, path.string(), std::strerror(error)));
}

}  // namespace

TimingCache::TimingCache(const std::filesystem::path& directory, TimingKey key) : key_(std::move(key)) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) fail("make the directory", directory, error.value());
  file_ = directory / fmt::format("blas-timings-{:016x}.txt", checksum(key_text(key_)));
  auto lock_path = file_;
  lock_path.replace_extension(".lock");
  lock_ = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) fail("write to", lock_path, errno);
  while (::flock(lock_, LOCK_EX) != 0)
    if (errno != EINTR) break;  // a file system without locks: the file is replaced whole all the same
}

TimingCache::~TimingCache() { ::close(lock_); }

std::optional<BlasTimings> TimingCache::read() const {
  std::ifstream stream(file_, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto key = key_text(key_);
  const auto check = text.rfind("check\t");
  if (!text.starts_with(key) || check == std::string::npos || check < key.size()) return {};
  if (text.substr(check) != fmt::format("check\t{:016x}\n", checksum({text.data(), check}))) return {};

  BlasTimings result;
  std::istringstream lines(text.substr(key.size(), check - key.size()));
  for (std::string line; std::getline(lines, line);) {
    const auto field = split(line);
    if (field[0] == "failure" && field.size() == 4) {
      result.failures.push_back({{field[1], field[2]}, field[3]});
    } else if (field[0] == "timing" && field.size() == 8) {
      const auto gemm = rate(field[6]), potrf = rate(field[7]);
      if (!gemm || !potrf || identity(field[3]) != field[4]) return {};
      result.timings.push_back({{field[1], field[2]}, field[3], field[5], *gemm, *potrf});
    } else {
      return {};
    }
  }
  if (result.timings.empty()) return {};
  return result;
}

void TimingCache::write(const BlasTimings& timings) const {
  std::string text = key_text(key_);
  for (const auto& one : timings.timings)
    text += fmt::format("timing\t{}\t{}\t{}\t{}\t{}\t{:.3f}\t{:.3f}\n", one_line(one.candidate.library),
                        one_line(one.candidate.core_type), one_line(one.path), identity(one.path),
                        one_line(one.core_type), one.gemm_gflops, one.potrf_gflops);
  for (const auto& [candidate, reason] : timings.failures)
    text += fmt::format("failure\t{}\t{}\t{}\n", one_line(candidate.library), one_line(candidate.core_type),
                        one_line(reason));
  text += fmt::format("check\t{:016x}\n", checksum(text));

  auto beside = file_;
  beside += fmt::format(".{}.new", ::getpid());
  std::ofstream stream(beside, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  std::error_code error;
  if (stream) std::filesystem::rename(beside, file_, error);
  if (!stream || error) {
    const int reason = error ? error.value() : errno;
    std::filesystem::remove(beside, error);
    fail("write", file_, reason);
  }
}

}  // namespace fairlead::linalg
