// Serializes strings and lists with their sizes, all other values bytewise.
#include "trace/snapshot_bytes.hpp"

#include <fairlead/error.hpp>

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace fairlead::trace {

namespace {

class Writer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void operator()(const T& value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  void operator()(const std::string& text) {
    (*this)(text.size());
    for (const char letter : text) bytes_.push_back(static_cast<std::byte>(letter));
  }
  template <class T>
  void operator()(const std::vector<T>& list) {
    (*this)(list.size());
    for (const T& one : list) (*this)(one);
  }
  void operator()(const Snapshot::Node& node) {
    (*this)(node.name);
    (*this)(node.capacity);
  }
  void operator()(const Snapshot::Link& link) {
    (*this)(link.name);
    (*this)(link.first);
    (*this)(link.second);
  }
  void operator()(const Snapshot::Datum& datum) {
    (*this)(datum.name);
    (*this)(datum.bytes);
  }
  void operator()(const Phase& phase) {
    (*this)(phase.name);
    (*this)(phase.start);
    (*this)(phase.end);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> from) : rest_(from) {}
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void operator()(T& value) {
    require(sizeof value);
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
  }
  void operator()(std::string& text) {
    std::size_t size = 0;
    (*this)(size);
    require(size);
    text.assign(reinterpret_cast<const char*>(rest_.data()), size);
    rest_ = rest_.subspan(size);
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    std::size_t size = 0;
    (*this)(size);
    require(size);  // each element has at least one byte
    list.resize(size);
    for (T& one : list) (*this)(one);
  }
  void operator()(Snapshot::Node& node) {
    (*this)(node.name);
    (*this)(node.capacity);
  }
  void operator()(Snapshot::Link& link) {
    (*this)(link.name);
    (*this)(link.first);
    (*this)(link.second);
  }
  void operator()(Snapshot::Datum& datum) {
    (*this)(datum.name);
    (*this)(datum.bytes);
  }
  void operator()(Phase& phase) {
    (*this)(phase.name);
    (*this)(phase.start);
    (*this)(phase.end);
  }
  bool at_end() const noexcept { return rest_.empty(); }

 private:
  void require(std::size_t bytes) const {
    if (bytes > rest_.size()) throw SystemError("what a rank has recorded did not come as it was sent");
  }
  std::span<const std::byte> rest_;
};

template <class Snapshot, class F>
void each_part(Snapshot& it, F& f) {
  f(it.process);
  f(it.workers);
  f(it.nodes);
  f(it.links);
  f(it.data);
  f(it.codelets);
  f(it.tasks);
  f(it.copies);
  f(it.memory);
  f(it.waits);
  f(it.transfers);
  f(it.phases);
  f(it.dropped);
  f(it.complete_from);
  f(it.memory_limit);
}

}  // namespace

std::vector<std::byte> bytes_of(const Snapshot& snapshot) {
  Writer writer;
  each_part(snapshot, writer);
  return writer.take();
}

Snapshot snapshot_of(std::span<const std::byte> bytes) {
  Snapshot snapshot;
  Reader reader(bytes);
  each_part(snapshot, reader);
  if (!reader.at_end()) throw SystemError("what a rank has recorded did not come as it was sent");
  return snapshot;
}

}  // namespace fairlead::trace
