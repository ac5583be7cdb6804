// Numbers have 64 bits, little-endian; texts and lists start with their length. The last number is a checksum.
#include "front/checkpoint/checkpoint_index.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "base/crc32c.hpp"

namespace fairlead::front {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are in memory");

/// As of PNG: a transfer that converts line ends, or clears the highest bit, changes it.
constexpr std::string_view magic_of_checkpoints =
    "\x89"
    "FCP\r\n\x1a\n";
constexpr std::uint64_t version_of_checkpoints = 2;

class IndexWriter {
 public:
  void number(std::uint64_t value) {
    const auto* const at = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), at, at + sizeof value);
  }
  void text(std::string_view text) {
    number(text.size());
    raw(text);
  }
  void raw(std::string_view text) {
    const auto* const at = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), at, at + text.size());
  }
  std::vector<std::byte> finish() && {
    number(crc32c(bytes_));
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

class IndexReader {
 public:
  IndexReader(const std::string& name, std::span<const std::byte> bytes) : name_(name), left_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  /// Of a list whose elements have at least this many bytes each.
  std::size_t length(std::size_t element_bytes) {
    const std::uint64_t value = number();
    if (value > left_.size() / element_bytes) damaged();
    return static_cast<std::size_t>(value);
  }
  std::string text() {
    const auto bytes = take(length(1));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  void end() const {
    if (!left_.empty()) damaged();
  }
  [[noreturn]] void damaged() const {
    throw InputError(fmt::format("{}: the index of the checkpoint is damaged", name_));
  }

 private:
  std::span<const std::byte> take(std::size_t bytes) {
    if (bytes > left_.size()) damaged();
    const auto taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }

  const std::string& name_;
  std::span<const std::byte> left_;
};

void require_order(const CheckpointIndex& index, const IndexReader& reader) {
  const auto ascends = [](const auto& list, auto key) {
    return std::ranges::adjacent_find(list, [&](const auto& a, const auto& b) { return key(a) >= key(b); }) ==
           list.end();
  };
  const bool in_order = ascends(index.unfinished, [](std::uint64_t task) { return task; }) &&
                        ascends(index.data, [](const SavedDatum& datum) { return datum.ordinal; });
  if (!in_order || (!index.unfinished.empty() && index.unfinished.back() >= index.submitted) ||
      index.unfinished.size() > index.submitted)
    reader.damaged();
}

}  // namespace

const std::string* CheckpointIndex::find(std::string_view property) const noexcept {
  for (const auto& [key, value] : identity)
    if (key == property) return &value;
  return nullptr;
}

std::vector<std::byte> CheckpointIndex::encoded() const {
  IndexWriter out;
  out.raw(magic_of_checkpoints);
  out.number(version_of_checkpoints);
  out.number(identity.size());
  for (const auto& [key, value] : identity) {
    out.text(key);
    out.text(value);
  }
  out.text(data_file);
  out.text(state);
  out.number(submitted);
  out.number(program_hash);
  out.number(unfinished.size());
  for (const std::uint64_t task : unfinished) out.number(task);
  out.number(data.size());
  for (const SavedDatum& datum : data) {
    out.number(datum.ordinal);
    out.number(datum.bytes);
    out.number(datum.offset);
    out.number(datum.sums.size());
    for (const auto& sum : datum.sums) {
      out.number(sum.offset);
      out.number(sum.bytes);
      out.number(sum.value);
    }
  }
  return std::move(out).finish();
}

CheckpointIndex CheckpointIndex::decode(const std::string& name, std::span<const std::byte> bytes) {
  const std::size_t magic = magic_of_checkpoints.size(), number = sizeof(std::uint64_t);
  if (bytes.size() < magic || std::memcmp(bytes.data(), magic_of_checkpoints.data(), magic) != 0)
    throw InputError(fmt::format("{}: is not the index of a checkpoint", name));
  if (bytes.size() < magic + 2 * number) IndexReader(name, {}).damaged();
  IndexReader reader(name, bytes.subspan(magic, bytes.size() - magic - number));
  const std::uint64_t version = reader.number();
  IndexReader last(name, bytes.last(number));
  const bool is_whole = last.number() == crc32c(bytes.first(bytes.size() - number));
  if (is_whole && version != version_of_checkpoints)
    throw InputError(fmt::format("{}: the checkpoint has version {} of the format, and this program reads {}",
                                 name, version, version_of_checkpoints));
  if (!is_whole) reader.damaged();
  CheckpointIndex index;
  for (std::size_t left = reader.length(2 * number); left != 0; --left) {
    std::string key = reader.text();
    index.identity.emplace_back(std::move(key), reader.text());
  }
  index.data_file = reader.text();
  index.state = reader.text();
  index.submitted = reader.number();
  index.program_hash = reader.number();
  for (std::size_t left = reader.length(number); left != 0; --left)
    index.unfinished.push_back(reader.number());
  for (std::size_t left = reader.length(4 * number); left != 0; --left) {
    SavedDatum datum{
        .ordinal = reader.number(), .bytes = reader.number(), .offset = reader.number(), .sums = {}};
    for (std::size_t sums = reader.length(3 * number); sums != 0; --sums) {
      backend::Checksums::Sum sum{
          .offset = reader.number(), .bytes = reader.number(), .value = reader.number()};
      datum.sums.push_back(sum);
    }
    index.data.push_back(std::move(datum));
  }
  reader.end();
  require_order(index, reader);
  return index;
}

}  // namespace fairlead::front
