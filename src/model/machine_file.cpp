// The lines of the file, with tabs between fields:
//   machine   identity
//   link      node, node, place, bytes/s to the second, bytes/s to the first, bytes/s of both, latency in ns, date
//   duration  codelet, kind of worker, processor, implementation, unit, size, footprint, tasks, date, eight
//             quantiles in ns
// Version 1 had the implementation's number instead of its name; number 0 is the empty name now.
#include "model/machine_file.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>

namespace fairlead::model {

namespace {

constexpr SharedFile::Format format{
    "fairlead-machine", 2,
    "How fast this machine is, as earlier runs found it. Delete this file to have it found out again.", 1};

constexpr std::array<std::string_view, 3> units{"bytes", "flops", "nanoseconds"};
constexpr std::size_t longest_name = 1000;

bool may_be_kept(std::string_view name) {
  return name.size() <= longest_name && name.find_first_of("\t\n\r") == name.npos;
}
bool may_be_kept(const DurationRecord& one) {
  return may_be_kept(one.codelet) && may_be_kept(one.implementation);
}

/// Parses fields in order, after the first. After one invalid field the whole line is invalid.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) { text(); }
  std::string_view text() {
    if (at_end_) return lost();
    const std::size_t end = rest_.find('\t');
    const std::string_view field = rest_.substr(0, end);
    at_end_ = end == rest_.npos;
    rest_.remove_prefix(at_end_ ? rest_.size() : end + 1);
    return field;
  }
  template <class Number>
  Number number(int base = 10) {
    const std::string_view field = text();
    Number value{};
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value, base);
    if (error != std::errc() || end != field.data() + field.size()) lost();
    return value;
  }
  /// The index of a word in a list.
  template <std::size_t N>
  std::size_t one_of(const std::array<std::string_view, N>& words) {
    const auto found = std::ranges::find(words, text());
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    lost();
    return 0;
  }
  /// "2026-11-20"
  std::int32_t day() {
    const std::string_view field = text();
    int year = 0;
    unsigned month = 0, day = 0;
    const auto read = [&](std::size_t at, std::size_t digits, auto& value) {
      if (field.size() != 10) return false;
      const auto [end, error] = std::from_chars(&field[at], &field[at] + digits, value);
      return error == std::errc() && end == &field[at] + digits;
    };
    if (!read(0, 4, year) || !read(5, 2, month) || !read(8, 2, day) || field[4] != '-' || field[7] != '-')
      lost();
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                           std::chrono::day(day)};
    if (!date.ok()) return lost(), 0;
    return static_cast<std::int32_t>(std::chrono::sys_days(date).time_since_epoch().count());
  }
  bool understood() const noexcept { return good_ && at_end_; }

 private:
  std::string_view lost() {
    good_ = false;
    return {};
  }
  std::string_view rest_;
  bool at_end_ = false;
  bool good_ = true;
};

std::optional<KeptLink> link_from(const std::string& line) {
  Fields fields(line);
  KeptLink link;
  link.first = fields.text();
  link.second = fields.text();
  link.place = fields.text();
  link.to_second = fields.number<std::uint64_t>();
  link.to_first = fields.number<std::uint64_t>();
  link.both = fields.number<std::uint64_t>();
  link.latency_ns = fields.number<std::int64_t>();
  link.day = fields.day();
  if (!fields.understood() || link.to_second == 0 || link.to_first == 0 || link.latency_ns < 0) return {};
  return link;
}

std::string line_of(const KeptLink& link) {
  return fmt::format("link\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", one_field(link.first), one_field(link.second),
                     one_field(link.place), link.to_second, link.to_first, link.both, link.latency_ns,
                     date_text(link.day));
}

std::optional<DurationRecord> duration_from(const std::string& line, unsigned version) {
  Fields fields(line);
  DurationRecord kept;
  kept.codelet = fields.text();
  kept.kind = static_cast<WorkerKind>(fields.one_of(worker_kind_names));
  kept.processor = fields.text();
  kept.implementation = fields.text();
  if (version == 1) kept.implementation = kept.implementation == "0" ? "" : "number " + kept.implementation;
  kept.unit = static_cast<WorkUnit>(fields.one_of(units));
  kept.size = fields.number<std::uint64_t>();
  kept.footprint = fields.number<std::uint64_t>(16);
  kept.tasks = fields.number<std::uint64_t>();
  kept.day = fields.day();
  for (std::int64_t& quantile : kept.quantiles_ns) quantile = fields.number<std::int64_t>();
  const bool in_order = std::ranges::is_sorted(kept.quantiles_ns) && kept.quantiles_ns.front() >= 1 &&
                        kept.quantiles_ns.back() <= std::int64_t{1} << 52;
  if (!fields.understood() || !in_order || !may_be_kept(kept)) return {};
  return kept;
}

std::string line_of(const DurationRecord& kept) {
  return fmt::format("duration\t{}\t{}\t{}\t{}\t{}\t{}\t{:016x}\t{}\t{}\t{}", kept.codelet,
                     worker_kind_names[static_cast<std::size_t>(kept.kind)], one_field(kept.processor),
                     kept.implementation, units[static_cast<std::size_t>(kept.unit)], kept.size,
                     kept.footprint, kept.tasks, date_text(kept.day), fmt::join(kept.quantiles_ns, "\t"));
}

template <class Durations>
auto* find(Durations& durations, const DurationRecord& like) {
  const auto found = std::ranges::lower_bound(durations, like.key(), {}, &DurationRecord::key);
  return found != durations.end() && found->key() == like.key() ? &*found : nullptr;
}

/// The sum of the durations of a record's tasks, estimated by their median.
double nanoseconds_of(const DurationRecord& record) {
  return static_cast<double>(record.tasks) *
         static_cast<double>(record.quantiles_ns[record.quantiles_ns.size() / 2]);
}

/// The file's name: a hash of the machine's text, valid in any file system.
std::filesystem::path path_in(const std::filesystem::path& directory, const std::string& machine) {
  return directory / fmt::format("machine-{:016x}.txt", text_hash(machine));
}

}  // namespace

std::string date_text(std::int32_t day) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day))};
  return fmt::format("{:04}-{:02}-{:02}", int(date.year()), unsigned(date.month()), unsigned(date.day()));
}

MachineFile::MachineFile(const std::filesystem::path& directory, std::string machine)
    : machine_(one_field(std::move(machine))), file_(path_in(directory, machine_), format) {}

MachineMeasurements MachineFile::load() const { return contents().facts; }

MachineFile::Contents MachineFile::contents() const {
  Contents contents;
  MachineMeasurements& facts = contents.facts;
  const SharedFile::Content file = file_.read();
  contents.of_newer_version = file.of_newer_version;
  std::string problem = file.problem;
  if (problem.empty() && !file.lines.empty() && file.lines[0] != "machine\t" + machine_)
    problem = "is about another machine";
  for (std::size_t i = 1; problem.empty() && i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    if (line.starts_with("link\t")) {
      if (auto link = link_from(line)) {
        facts.links.push_back(std::move(*link));
        continue;
      }
    } else if (line.starts_with("duration\t")) {
      if (auto kept = duration_from(line, file.version)) {
        facts.durations.push_back(std::move(*kept));
        continue;
      }
    }
    problem = fmt::format("has a line {} that means nothing", i + 2);
  }
  if (problem.empty()) {
    if (!std::ranges::is_sorted(facts.durations, {}, &DurationRecord::key))
      std::ranges::stable_sort(facts.durations, {}, &DurationRecord::key);
    return contents;
  }
  facts = {};
  facts.problem =
      fmt::format("\"{}\" {}: it is not used{}", path().string(), problem,
                  file.of_newer_version ? " and left as it is" : "; what this run learns takes its place");
  return contents;
}

bool MachineFile::is_worth_writing(const KeptDurations& learned, const KeptDurations& started_with) {
  double nanoseconds = 0;
  for (const DurationRecord& one : learned) {
    if (find(started_with, one) == nullptr) return true;
    nanoseconds += nanoseconds_of(one);
  }
  return nanoseconds >= shortest_computation_ns;
}

void MachineFile::add(const KeptDurations& learned, const KeptDurations& started_with,
                      std::int32_t today) const {
  if (file_.read().of_newer_version) return;  // no lock file in a directory that may be untrusted
  const SharedFile::Lock lock(file_);
  Contents now = contents();
  if (now.of_newer_version) return;
  KeptDurations known = std::move(now.facts.durations), fresh, began = started_with;
  std::ranges::stable_sort(began, {}, &DurationRecord::key);
  for (const DurationRecord& one : learned) {
    if (!may_be_kept(one)) continue;
    DurationRecord* there = find(known, one);
    if (there == nullptr) {
      fresh.push_back(one);
      fresh.back().day = today;
      continue;
    }
    // If the record is unchanged since this process loaded it, the new values already include it. Otherwise both are
    // merged.
    const DurationRecord* start = find(began, one);
    const bool unchanged = start != nullptr && start->quantiles_ns == there->quantiles_ns;
    there->quantiles_ns = unchanged ? one.quantiles_ns : merged(there->quantiles_ns, one.quantiles_ns);
    there->tasks += one.tasks;
    there->day = today;
  }
  known.insert(known.end(), fresh.begin(), fresh.end());
  if (known.size() > most_durations) {
    std::ranges::stable_sort(known, std::ranges::greater(), &DurationRecord::day);
    known.resize(most_durations);
  }
  std::ranges::stable_sort(known, {}, &DurationRecord::key);
  now.facts.durations = std::move(known);
  write(now.facts);
}

void MachineFile::put(const KeptLinks& links) const {
  const SharedFile::Lock lock(file_);
  Contents now = contents();
  if (now.of_newer_version)
    throw SystemError(
        fmt::format("\"{}\" is kept by a newer version of Fairlead: use that one", path().string()));
  for (const KeptLink& link : links) {
    std::erase_if(now.facts.links, [&](const KeptLink& old) {
      return old.first == link.first && old.second == link.second && old.place == link.place;
    });
    now.facts.links.push_back(link);
  }
  write(now.facts);
}

void MachineFile::write(const MachineMeasurements& facts) const {
  std::vector<std::string> lines{"machine\t" + machine_};
  for (const KeptLink& link : facts.links) lines.push_back(line_of(link));
  for (const DurationRecord& kept : facts.durations) lines.push_back(line_of(kept));
  file_.replace(lines);
}

}  // namespace fairlead::model
