// See fake.hpp.
#include "fake_cuda/fake.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace fake_cuda {

namespace {

thread_local bool in_kernel = false;

/// Those from 700 on, except those about peers (704, 705, 711) and registrations (712, 713).
bool ends_a_device(Status status) {
  return status >= illegal_address && status != 704 && status != 705 && (status < 711 || status > 713);
}

/// "seed=3,devices=2,lost=7", "fail=cuMemAlloc_v2,call=2,status=719", "calls=FILE": for unmodified programs.
std::string text_in(const std::string& text, const std::string& name) {
  const std::size_t at = text.find(name + "=");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size() + 1;
  return text.substr(begin, text.find(',', begin) - begin);
}
unsigned long number_in(const std::string& text, const std::string& name, unsigned long otherwise) {
  const std::string given = text_in(text, name);
  return given.empty() ? otherwise : std::strtoul(given.c_str(), nullptr, 10);
}

}  // namespace

Fake& Fake::of_process() {
  static Fake fake;
  return fake;
}

/// If the environment configured the driver, the process exits with an error after findings.
Fake::~Fake() {
  stop();
  if (!by_environment_) return;
  if (!write_calls_to_.empty())
    for (std::ofstream file(write_calls_to_); const auto& [function, count] : calls_)
      file << function << ' ' << count << '\n';
  const std::vector<std::string> found = end();
  for (const std::string& text : found) std::fprintf(stderr, "fake_cuda: %s\n", text.c_str());
  if (!found.empty()) ::_exit(99);
}

void Fake::begin(const Settings& how) {
  stop();
  const std::lock_guard lock(mutex_);
  settings = how;
  checker = {};
  memory = std::make_unique<Memory>();
  devices.clear();
  for (int i = 0; i < how.devices; ++i) devices.emplace_back().context.device = i;
  streams.clear();
  events.clear();
  modules.clear();
  graphs.clear();
  ready_graphs.clear();
  failures_.clear();
  struck_ = 0;
  calls_.clear();
  contexts_of_thread().clear();
  random_.seed(how.seed);
  operations_ = 0;
  started_ = true;
  ending_ = false;
  thread_ = std::thread([this] { work(); });
}

void Fake::stop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::vector<std::string> Fake::end() {
  stop();
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all(checker.findings().begin(), checker.findings().end());
  for (const std::string& text : memory->left()) all.push_back(text);
  const auto lost = [&](int device) { return devices[static_cast<std::size_t>(device)].lost != success; };
  for (const auto& stream : streams)
    if (!lost(stream->device)) all.emplace_back("a stream was not given back");
  for (const auto& event : events)
    if (!lost(event->device)) all.emplace_back("an event was not given back");
  for (const auto& module : modules)
    if (!lost(module->device)) all.emplace_back("a module was not given back");
  if (!graphs.empty() || !ready_graphs.empty()) all.emplace_back("a graph was not given back");
  for (const Device& device : devices)
    if (device.retained != 0 && device.lost == success) all.emplace_back("a context was not given back");
  return all;
}

void Fake::fail(const char* function, int call, bool for_good, Status status, bool alone) {
  const std::lock_guard lock(mutex_);
  if (alone) {
    failures_.clear();
    struck_ = 0;
  }
  if (function != nullptr) failures_.push_back({function, call, 0, for_good, status});
}
int Fake::failures() {
  const std::lock_guard lock(mutex_);
  return struck_;
}
std::map<std::string, int> Fake::calls() {
  const std::lock_guard lock(mutex_);
  return calls_;
}
std::uint64_t Fake::operations() {
  const std::lock_guard lock(mutex_);
  return operations_;
}

void Fake::lose(int device, std::uint64_t after, Status status) {
  const std::lock_guard lock(mutex_);
  Device& one = devices[static_cast<std::size_t>(device)];
  one.ends_after = one.done + after;
  one.ends_by = status;
}

Status Fake::enter(std::unique_lock<std::mutex>& lock, const char* function, int named) {
  if (!started_) {
    const char* const text = std::getenv("FAKE_CUDA");
    lock.unlock();
    const std::string given = text == nullptr ? "" : text;
    const std::string peers = text_in(given, "peers");
    begin({.seed = number_in(given, "seed", 1),
           .devices = static_cast<int>(number_in(given, "devices", 1)),
           .peers = peers == "none"     ? Peers::none
                    : peers == "silent" ? Peers::silent
                    : peers == "seed"   ? Peers::by_seed
                                        : Peers::all});
    lock.lock();
    by_environment_ = true;
    if (const unsigned long after = number_in(given, "lost", 0); after != 0) {
      devices[0].ends_after = after;
      devices[0].ends_by = 719;
    }
    write_calls_to_ = text_in(given, "calls");
    if (const std::string failing = text_in(given, "fail"); !failing.empty())
      failures_.push_back({failing, static_cast<int>(number_in(given, "call", 1)), 0, false,
                           static_cast<Status>(number_in(given, "status", 2))});
  }
  checker.called();
  if (in_kernel) checker.report(std::string(function) + " was called by a host function");
  ++calls_[function];
  const auto strikes = std::ranges::find_if(failures_, [&](Failure& one) {
    if (one.function != function) return false;
    ++one.calls;
    return one.for_good ? one.calls >= one.call : one.calls == one.call;
  });
  if (strikes == failures_.end()) return success;
  ++struck_;
  const Status status = strikes->status;
  const int device = named < 0 ? current() : named;
  if (!ends_a_device(status) || device < 0) return status;
  changed_.wait(lock, [&] {  // nor may another device copy from there now
    return std::ranges::none_of(streams, [](const auto& stream) { return stream->running; });
  });
  become_lost(device, status);
  changed_.notify_all();
  return status;
}

std::vector<int>& Fake::contexts_of_thread() {
  thread_local std::vector<int> contexts;
  return contexts;
}
int Fake::current() { return contexts_of_thread().empty() ? -1 : contexts_of_thread().back(); }

bool Fake::may_be_peers(int device, int other) const {
  if (settings.peers != Peers::by_seed) return settings.peers != Peers::none;
  std::mt19937_64 pair(settings.seed * 64 + static_cast<std::uint64_t>(std::min(device, other)) * 8 +
                       static_cast<std::uint64_t>(std::max(device, other)));
  return pair() % 2 == 0;
}

bool Fake::knows(const CUstream_st* stream) const {
  return std::ranges::any_of(streams, [&](const auto& one) { return one.get() == stream; });
}
std::shared_ptr<CUevent_st> Fake::find(const CUevent_st* event) const {
  const auto found = std::ranges::find_if(events, [&](const auto& one) { return one.get() == event; });
  return found == events.end() ? nullptr : *found;
}

Status Fake::put(CUstream_st* stream, const std::string& name, const std::vector<Access>& accesses,
                 std::function<bool()> run) {
  if (stream == nullptr) {
    checker.report("\"" + name + "\" was put into the default stream");
    return invalid_handle;
  }
  if (!knows(stream)) {
    checker.report("\"" + name + "\" was put into no stream");
    return invalid_handle;
  }
  if (stream->device != current())
    checker.report("\"" + name + "\" was put into the stream of a device that is not current");
  checker.add(stream->id, name, accesses);
  stream->waiting.push_back({.run = std::move(run)});
  changed_.notify_all();
  return success;
}

Status Fake::record(CUevent_st* which, CUstream_st* stream) {
  const std::shared_ptr<CUevent_st> event = find(which);
  if (event == nullptr || !knows(stream)) {
    checker.report(stream == nullptr ? "an event was recorded in the default stream"
                                     : "an event or a stream was used that is not there");
    return invalid_handle;
  }
  if (event->asked != event->seen) checker.report("an event was used again while it was asked");
  ++event->asked;
  event->stream = stream->id;
  event->clock = checker.add(stream->id, "record", {});
  stream->waiting.push_back({{}, event, event->asked});
  changed_.notify_all();
  return success;
}

Status Fake::query(CUevent_st* which) {
  const std::shared_ptr<CUevent_st> event = find(which);
  if (event == nullptr) {
    checker.report("an event was asked that is not there");
    return invalid_handle;
  }
  if (event->done < event->asked) return not_ready;
  event->seen = event->asked;
  checker.seen(event->stream, event->clock);
  return success;
}

Status Fake::wait_for(std::unique_lock<std::mutex>& lock, CUevent_st* which) {
  const std::shared_ptr<CUevent_st> event = find(which);
  if (event == nullptr) {
    checker.report("an event was waited for that is not there");
    return invalid_handle;
  }
  const Device& device = devices[static_cast<std::size_t>(event->device)];
  changed_.wait(lock, [&] { return event->done == event->asked || device.lost != success; });
  return device.lost != success ? device.lost : query(which);
}

Status Fake::wait_for(std::unique_lock<std::mutex>& lock, CUstream_st* stream) {
  if (!knows(stream)) {
    checker.report(stream == nullptr ? "the default stream was waited for" : "no stream was waited for");
    return invalid_handle;
  }
  const Device& device = devices[static_cast<std::size_t>(stream->device)];
  changed_.wait(lock,
                [&] { return (stream->waiting.empty() && !stream->running) || device.lost != success; });
  if (device.lost != success) return device.lost;
  for (const auto& event : events)
    if (event->stream == stream->id && event->done == event->asked) event->seen = event->asked;
  checker.seen(stream->id, checker.add(stream->id, "synchronize", {}));
  return success;
}

/// Stops all work on the device and discards queued operations.
void Fake::become_lost(int device, Status status) {
  Device& one = devices[static_cast<std::size_t>(device)];
  one.lost = status;
  one.lost_bytes = one.unsaved.bytes(checker.published());
  memory->lose(device);
  for (const auto& stream : streams) {
    if (stream->device != device) continue;
    stream->waiting.clear();
    checker.seen(stream->id, checker.add(stream->id, "the end", {}));
  }
}

/// Sequential: operations that may run concurrently run in either order.
void Fake::work() {
  std::unique_lock lock(mutex_);
  std::vector<CUstream_st*> ready;
  const auto look = [&] {
    ready.clear();
    for (const auto& stream : streams)
      if (!stream->waiting.empty()) ready.push_back(stream.get());
    return !ready.empty();
  };
  while (!ending_) {
    if (!look()) {
      changed_.wait(lock);
      continue;
    }
    if (settings.longest_delay_us != 0) {
      const std::chrono::microseconds delay(random_() % settings.longest_delay_us);
      changed_.wait_for(lock, delay, [&] { return ending_; });
      if (ending_ || !look()) continue;
    }
    do_step(lock, *ready[random_() % ready.size()]);
  }
}

void Fake::do_step(std::unique_lock<std::mutex>& lock, CUstream_st& stream) {
  const CUstream_st::Step step = std::move(stream.waiting.front());
  stream.waiting.pop_front();
  bool good = true;
  if (step.run) {
    stream.running = true;
    lock.unlock();
    in_kernel = true;
    good = step.run();
    in_kernel = false;
    lock.lock();
    stream.running = false;
    Device& device = devices[static_cast<std::size_t>(stream.device)];
    ++device.done;
    ++operations_;
    if (!good)
      become_lost(stream.device, illegal_address);
    else if (device.ends_after != 0 && device.done >= device.ends_after && device.lost == success)
      become_lost(stream.device, device.ends_by);
  }
  // Records in two streams may finish in any order: the last one counts.
  if (step.event != nullptr) step.event->done = std::max(step.event->done, step.record);
  changed_.notify_all();
}

void begin(const Settings& settings) { Fake::of_process().begin(settings); }
std::vector<std::string> end() { return Fake::of_process().end(); }
void fail(const char* function, int call, bool for_good, int status) {
  Fake::of_process().fail(function, call, for_good, status, true);
}
void fail_also(const char* function, int call, bool for_good, int status) {
  Fake::of_process().fail(function, call, for_good, status, false);
}
int failures() { return Fake::of_process().failures(); }
std::map<std::string, int> calls() { return Fake::of_process().calls(); }
int called(const char* function) {
  return Fake::of_process().call(function, [](std::unique_lock<std::mutex>&) { return success; });
}
void lose(int device, std::uint64_t after, int status) { Fake::of_process().lose(device, after, status); }
std::uint64_t operations() { return Fake::of_process().operations(); }
int current_device() { return Fake::current(); }

std::size_t most_bytes(int device) {
  Fake& fake = Fake::of_process();
  const std::lock_guard lock(fake.mutex());
  return fake.memory->most_bytes(device);
}
std::size_t bytes(int device) {
  Fake& fake = Fake::of_process();
  const std::lock_guard lock(fake.mutex());
  return fake.memory->bytes(device);
}
std::size_t lost_bytes(int device) {
  Fake& fake = Fake::of_process();
  const std::lock_guard lock(fake.mutex());
  return fake.devices[static_cast<std::size_t>(device)].lost_bytes;
}
bool is_lost(int device) {
  Fake& fake = Fake::of_process();
  const std::lock_guard lock(fake.mutex());
  return fake.devices[static_cast<std::size_t>(device)].lost != success;
}
void report(const std::string& text) {
  Fake& fake = Fake::of_process();
  const std::lock_guard lock(fake.mutex());
  fake.checker.report(text);
}

/// Looks up the parameters' addresses now, since they may be freed later.
Status Fake::put_kernel(CUstream_st* stream, const std::string& name, int device,
                        const std::vector<Access>& accesses, Kernel run) {
  std::vector<std::byte*> places;
  bool good = true;
  for (const Access& access : accesses) {
    const Memory::Found found = memory->find(access.at, access.bytes);
    if (found.where == Memory::Where::freed)
      checker.report("\"" + name + "\" uses memory that was given back");
    good = good && (found.where == Memory::Where::host ||
                    (found.where == Memory::Where::device && found.device == device));
    places.push_back(found.bytes);
  }
  if (!good) checker.report("\"" + name + "\" goes where the device has nothing");
  for (const Access& access : accesses)
    if (access.write && memory->find(access.at, access.bytes).where == Memory::Where::device)
      devices[static_cast<std::size_t>(device)].unsaved.written(access.at, access.bytes);
  return put(stream, name, accesses, [good, places, run = std::move(run)] {
    if (good) run(places);
    return good;
  });
}

Outside Fake::begin_outside(const std::string& name, const Access& access) {
  const Memory::Found found = memory->find(access.at, access.bytes);
  if (found.where != Memory::Where::device && found.where != Memory::Where::freed) return {};
  if (found.where == Memory::Where::freed) checker.report("\"" + name + "\" uses memory that was given back");
  if (current() < 0) checker.report("\"" + name + "\" goes to a device without a context");
  const std::uint32_t number = ++streams_made;
  checker.add(number, name, {&access, 1});
  if (access.write) devices[static_cast<std::size_t>(found.device)].unsaved.written(access.at, access.bytes);
  return {found.bytes, number, found.device};
}
Outside begin_outside(const char* name, const void* at, std::size_t bytes, bool write) {
  Fake& fake = Fake::of_process();
  const std::lock_guard lock(fake.mutex());
  return fake.begin_outside(name, {at, bytes, write});
}
void end_outside(const Outside& outside) {
  Fake& fake = Fake::of_process();
  const std::lock_guard lock(fake.mutex());
  fake.checker.seen(outside.number, {{outside.number, fake.checker.added(outside.number)}});
}

int launch(CUstream_st* stream, const char* name, std::vector<Access> accesses, Kernel run) {
  Fake& fake = Fake::of_process();
  return fake.call_there("cuLaunchKernel", [&](std::unique_lock<std::mutex>&, int device) {
    return fake.put_kernel(stream, name, device, accesses, std::move(run));
  });
}

}  // namespace fake_cuda
