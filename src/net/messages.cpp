// See messages.hpp. Numbers are in native byte order: all ranks run on the same kind of machine.
#include "net/messages.hpp"

#include <cstring>
#include <type_traits>
#include <utility>

namespace fairlead::net {

namespace {

class Writer {
 public:
  Writer() { bytes_.reserve(most_of_control); }
  template <class T>
  void number(T value) requires(std::is_trivially_copyable_v<T>) {
    const auto* const begin = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), begin, begin + sizeof value);
  }
  void raw(const void* from, std::size_t count) {
    number(static_cast<std::uint64_t>(count));
    const auto* const begin = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), begin, begin + count);
  }
  std::vector<std::byte> taken() { return std::move(bytes_); }

 private:
  static constexpr std::size_t most_of_control = 128;  // enough for most messages
  std::vector<std::byte> bytes_;
};

/// Returns zeros past the end; then good() is false.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> of) : rest_(of) {}
  template <class T>
  T number() requires(std::is_trivially_copyable_v<T>) {
    T value{};
    if (rest_.size() < sizeof value) {
      good_ = false;
    } else {
      std::memcpy(&value, rest_.data(), sizeof value);
      rest_ = rest_.subspan(sizeof value);
    }
    return value;
  }
  std::span<const std::byte> raw() {
    const auto count = number<std::uint64_t>();
    if (count > rest_.size()) good_ = false;
    if (!good_) return {};
    const auto found = rest_.first(count);
    rest_ = rest_.subspan(count);
    return found;
  }
  bool good() const noexcept { return good_; }
  bool at_end() const noexcept { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool good_ = true;
};

template <class T>
std::vector<T> list_of(std::span<const std::byte> bytes) {
  std::vector<T> list(bytes.size() / sizeof(T));
  if (!list.empty()) std::memcpy(list.data(), bytes.data(), list.size() * sizeof(T));
  return list;
}

void put(Writer& out, const Activate& it) {
  out.number(it.of);
  out.number(it.task);
  out.number(it.fingerprint);
  out.number(static_cast<std::uint8_t>(it.outputs.size()));
  for (const Activate::Output& output : it.outputs) {
    out.number(output.number);
    out.number(output.datum_type);
    out.number(output.bytes);
    out.number(output.memory_bytes);
    out.number(output.offered);
    out.raw(output.forward_to.data(), output.forward_to.size() * sizeof(RankId));
    out.raw(output.value.data(), output.value.size());
  }
}
void put(Writer& out, const Request& it) {
  out.number(it.of);
  out.number(it.task);
  out.number(it.first_tag);
  out.number(it.outputs);
}
void put(Writer& out, const Credit& it) { out.number(it.bytes); }
void put(Writer& out, const ValueName& it) {
  out.number(it.of);
  out.number(it.task);
  out.number(it.output);
}
void put(Writer& out, const Offer& it) {
  put(out, it.name);
  out.number(it.address);
  out.number(it.mark_at);
  out.number(it.mark);
}
void put(Writer& out, const ReadAcknowledged& it) { put(out, it.name); }
void put(Writer& out, const Failed& it) {
  out.number(it.rank);
  out.raw(it.text.data(), it.text.size());
}
void put(Writer& out, const Closed& it) {
  out.raw(it.finished.data(), it.finished.size() * sizeof(Closed::Runs));
}
void put(Writer& out, const Status& it) {
  out.number(it.run);
  out.number(it.round);
  out.number(it.sequence);
  out.number(it.sent);
  out.number(it.received);
  out.number(it.idle);
  out.number(it.finished);
  out.raw(it.text.data(), it.text.size());
}
void put(Writer& out, const StatusRequest& it) { out.number(it.round); }
void put(Writer& out, const Allowance& it) { out.number(it.takes_along); }
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Activate activate_of(Reader& in) {
  Activate it;
  it.of = in.number<GraphRun>();
  it.task = in.number<std::uint64_t>();
  it.fingerprint = in.number<std::uint64_t>();
  const auto outputs = in.number<std::uint8_t>();
  for (std::size_t i = 0; i < outputs && in.good(); ++i) {
    Activate::Output output;
    output.number = in.number<std::uint8_t>();
    output.datum_type = in.number<std::uint32_t>();
    output.bytes = in.number<Bytes>();
    output.memory_bytes = in.number<Bytes>();
    output.offered = in.number<std::uint8_t>() != 0;
    output.forward_to = list_of<RankId>(in.raw());
    const auto value = in.raw();
    output.value.assign(value.begin(), value.end());
    it.outputs.push_back(std::move(output));
  }
  return it;
}
Request request_of(Reader& in) {
  Request it;
  it.of = in.number<GraphRun>();
  it.task = in.number<std::uint64_t>();
  it.first_tag = in.number<std::uint64_t>();
  it.outputs = in.number<std::uint64_t>();
  return it;
}
ValueName name_of(Reader& in) {
  ValueName it;
  it.of = in.number<GraphRun>();
  it.task = in.number<std::uint64_t>();
  it.output = in.number<std::uint8_t>();
  return it;
}
Offer offer_of(Reader& in) {
  Offer it;
  it.name = name_of(in);
  it.address = in.number<std::uint64_t>();
  it.mark_at = in.number<std::uint64_t>();
  it.mark = in.number<std::uint64_t>();
  return it;
}
Failed failed_of(Reader& in) {
  Failed it;
  it.rank = in.number<RankId>();
  it.text = text_of(in.raw());
  return it;
}
Status status_of(Reader& in) {
  Status it;
  it.run = in.number<GraphRun>();
  it.round = in.number<std::uint64_t>();
  it.sequence = in.number<std::uint64_t>();
  it.sent = in.number<std::uint64_t>();
  it.received = in.number<std::uint64_t>();
  it.idle = in.number<std::uint8_t>() != 0;
  it.finished = in.number<std::uint8_t>() != 0;
  it.text = text_of(in.raw());
  return it;
}
Closed closed_of(Reader& in) { return {list_of<Closed::Runs>(in.raw())}; }

}  // namespace

std::vector<std::byte> bytes_of(const Message& message) {
  Writer out;
  out.number(static_cast<std::uint8_t>(message.index()));
  std::visit([&](const auto& it) { put(out, it); }, message);
  return out.taken();
}

std::optional<Message> message_of(std::span<const std::byte> bytes) {
  Reader in(bytes);
  std::optional<Message> message;
  switch (in.number<std::uint8_t>()) {
    case 0:
      message = activate_of(in);
      break;
    case 1:
      message = request_of(in);
      break;
    case 2:
      message = Credit{in.number<Bytes>()};
      break;
    case 3:
      message = offer_of(in);
      break;
    case 4:
      message = ReadAcknowledged{name_of(in)};
      break;
    case 5:
      message = failed_of(in);
      break;
    case 6:
      message = closed_of(in);
      break;
    case 7:
      message = status_of(in);
      break;
    case 8:
      message = StatusRequest{in.number<std::uint64_t>()};
      break;
    case 9:
      message = Allowance{in.number<Bytes>()};
      break;
    default:
      return std::nullopt;
  }
  if (!in.good() || !in.at_end()) return std::nullopt;
  return message;
}

}  // namespace fairlead::net
