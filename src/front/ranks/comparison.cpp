// Exchange and comparison of task hashes. See comparison.hpp.
#include "front/ranks/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fairlead::front {

namespace {
template <class Entry>
std::string text_of_entry(const Entry& entry) {
  if (entry.codelet == nullptr) return "a wait of all ranks";
  return fmt::format("the task {}, submitted at {}:{}", entry.codelet->name, entry.file, entry.line);
}
}  // namespace

ProgramComparison::ProgramComparison(net::Communicator& communicator, std::function<void()> changed)
    : communicator_(communicator), changed_(std::move(changed)) {
  entries_.reserve(block);
}

void ProgramComparison::add_wait() {
  if (alone()) return;
  add_task(1, nullptr, "", 0);
  if (!entries_.empty()) close_block();
}

void ProgramComparison::close_block() {
  const std::uint64_t number = closed_++;
  if (alone()) {
    entries_.clear();
    equal_.store(closed_);
    return;
  }
  {
    const std::lock_guard guard(mutex_);
    Block& it = blocks_[number];
    it.hash = hash_;
    it.closed = true;
    it.entries.swap(entries_);
    if (!spare_.empty()) {
      entries_.swap(spare_.back());
      spare_.pop_back();
    }
    if (is_first()) compare(number);
  }
  entries_.reserve(block);
  if (!is_first())
    communicator_.send_note(
        net::RankId{0},
        NoteWriter(static_cast<std::uint8_t>(Note::block)).number(number).number(hash_).taken());
}

void ProgramComparison::report_wait_completed() {
  ++overs_;
  if (alone()) return all_over_.store(overs_);
  if (!is_first())
    return communicator_.send_note(net::RankId{0}, NoteWriter(static_cast<std::uint8_t>(Note::over)).taken());
  const std::lock_guard guard(mutex_);
  count_over();
}

/// For rank 0. Requires the mutex.
void ProgramComparison::count_over() {
  if (++over_heard_ % communicator_.ranks() != 0) return;
  all_over_.store(over_heard_ / communicator_.ranks());
  say_to_all(Note::all_over, all_over_.load());
}

void ProgramComparison::say_to_all(Note note, std::uint64_t number) {
  for (std::uint32_t i = 1; i < communicator_.ranks(); ++i)
    communicator_.send_note(net::RankId{i},
                            NoteWriter(static_cast<std::uint8_t>(note)).number(number).taken());
}

/// For rank 0. Requires the mutex.
void ProgramComparison::compare(std::uint64_t number) {
  Block& it = blocks_[number];
  if (!it.closed) return;
  for (const auto& [rank, hash] : std::exchange(it.hashes, {})) {
    if (hash == it.hash) {
      ++it.equal;
      continue;
    }
    NoteWriter note(static_cast<std::uint8_t>(Note::differs));
    note.number(number).number(it.entries.size());
    for (const Entry& entry : it.entries) note.number(entry.hash).text(text_of_entry(entry));
    communicator_.send_note(rank, note.taken());
  }
  if (it.equal + 1 != communicator_.ranks()) return;
  // Each rank closes blocks in order, but their notes arrive in any order.
  while (!blocks_.empty() && blocks_.begin()->second.equal + 1 == communicator_.ranks() &&
         blocks_.begin()->first == equal_.load()) {
    forget_until(blocks_.begin()->first + 1);
    ++equal_;
  }
  say_to_all(Note::equal, equal_.load());
}

/// Requires the mutex.
void ProgramComparison::forget_until(std::uint64_t number) {
  while (!blocks_.empty() && blocks_.begin()->first < number) {
    spare_.push_back(std::move(blocks_.begin()->second.entries));
    spare_.back().clear();
    blocks_.erase(blocks_.begin());
  }
}

void ProgramComparison::on_note(net::RankId from, std::span<const std::byte> note) {
  if (note.empty()) return;
  NoteReader in(note.subspan(1));
  {
    const std::lock_guard guard(mutex_);
    switch (static_cast<Note>(note.front())) {
      case Note::block: {
        const std::uint64_t number = in.number(), hash = in.number();
        blocks_[number].hashes.emplace_back(from, hash);
        compare(number);
        break;
      }
      case Note::equal: {
        const std::uint64_t count = in.number();
        if (count <= equal_.load()) break;  // a newer note arrived first
        forget_until(count);
        equal_.store(count);
        break;
      }
      case Note::differs: {
        const std::uint64_t number = in.number();
        differs(number, from, in);
        break;
      }
      case Note::over:
        count_over();
        break;
      case Note::all_over:
        all_over_.store(std::max(all_over_.load(), in.number()));
        break;
    }
  }
  changed_();
}

/// Requires the mutex.
void ProgramComparison::differs(std::uint64_t number, net::RankId with, NoteReader& theirs) {
  const std::vector<Entry>& own = blocks_[number].entries;
  const std::uint64_t count = theirs.number();
  for (std::size_t i = 0; i < count || i < own.size(); ++i) {
    const std::uint64_t hash = i < count ? theirs.number() : 0;
    const std::string text = i < count ? theirs.text() : "nothing";
    if (i < count && i < own.size() && own[i].hash == hash) continue;
    return communicator_.report_failure_async(
        fmt::format("ranks {} and {} do not run the same program: on rank {} "
                    "comes {}, where on rank {} comes {}",
                    net::index(with), net::index(communicator_.own()), net::index(with), text,
                    net::index(communicator_.own()), i < own.size() ? text_of_entry(own[i]) : "nothing"));
  }
  communicator_.report_failure_async(fmt::format("ranks {} and {} do not run the same program",
                                                 net::index(with), net::index(communicator_.own())));
}

}  // namespace fairlead::front
