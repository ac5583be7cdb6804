// Two ranks that read each other's memory, as threads of this process: values of all sizes arrive unchanged and complete,
// and none is freed before it has arrived. If reading fails, values are sent instead.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "net/communicator.hpp"
#include "net/direct_reads.hpp"
#include "net/local/exchange.hpp"

namespace fairlead::net {
namespace {

using Buffer = std::vector<std::uint8_t>;

Buffer content(std::uint64_t task, Bytes bytes) {
  Buffer fill_template(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    fill_template[i] = static_cast<std::uint8_t>((i * 31 + i / 4096 + task) % 251);
  return fill_template;
}

/// The values of one rank in memory. Values without readers are overwritten.
class Values final : public Client {
 public:
  Communicator* communicator = nullptr;

  void add(std::uint64_t number, Buffer value) {
    const std::lock_guard guard(mutex_);
    values_[number] = std::move(value);
  }
  Buffer landed_value(std::uint64_t task) {
    std::unique_lock lock(mutex_);
    something_.wait(lock, [&] { return landed_.contains(task) || !failure_.empty(); });
    return failure_.empty() ? values_.at(landed_.at(task)) : Buffer{};
  }
  void wait_until_left(std::size_t count) {
    std::unique_lock lock(mutex_);
    something_.wait(lock, [&] { return left_ == count; });
  }

  void allocate_place(const EndpointCommands::Place& place) override {
    void* address = nullptr;
    {
      const std::lock_guard guard(mutex_);
      values_[next_] = Buffer(place.bytes);
      address = values_[next_].data();
    }
    communicator->placed(place.id, next_++, {.address = address});
  }
  void read(const EndpointCommands::Read& read) override {
    const void* address = nullptr;
    {
      const std::lock_guard guard(mutex_);
      Buffer& value = values_.at(read.value);
      if (read.release) std::ranges::fill(value, std::uint8_t{0xee});
      address = value.data();
    }
    if (!read.release) communicator->readable(read.id, address);
  }
  void arrived(const EndpointCommands::Arrived& landed) override {
    const std::lock_guard guard(mutex_);
    landed_[landed.name.task] = landed.value;
    something_.notify_all();
  }
  void sent(const EndpointCommands::Sent&) override {
    const std::lock_guard guard(mutex_);
    ++left_;
    something_.notify_all();
  }
  void failed(const std::string& why) override {
    const std::lock_guard guard(mutex_);
    failure_ = why;
    something_.notify_all();
  }
  void out_of_memory() noexcept override { std::abort(); }

 private:
  std::mutex mutex_;  // guards the members below
  std::condition_variable something_;
  std::map<std::uint64_t, Buffer> values_;
  std::map<std::uint64_t, std::uint64_t> landed_;
  std::uint64_t next_ = 1000;  // used by the endpoint's thread only
  std::size_t left_ = 0;
  std::string failure_;
};

bool system_lets_us_read() {
  DirectReads own(RankId{0});
  return own.probe({own.introduction(), own.introduction()}).ends_with(" 1");
}

/// The traffic of rank 0 when rank 1 has received all values. `readable`: on the second rank.
NetworkTraffic sent_to_other(const std::vector<Bytes>& sizes, bool readable) {
  const auto exchange = std::make_shared<Exchange>(2);
  std::vector<std::shared_ptr<DirectReads>> direct_reads;
  std::vector<std::string> introductions, tried;
  for (std::uint32_t i = 0; i < 2; ++i) {
    direct_reads.push_back(std::make_shared<DirectReads>(RankId{i}));
    introductions.push_back(direct_reads.back()->introduction());
  }
  for (const auto& it : direct_reads) tried.push_back(it->probe(introductions));
  std::vector<std::unique_ptr<Communicator>> ranks;
  std::vector<Values> values(2);
  const GraphRun run{0, 0};
  for (std::uint32_t i = 0; i < 2; ++i) {
    direct_reads[i]->set_results(tried);
    const auto network = std::make_shared<LocalRank>(exchange, RankId{i});
    if (readable || i == 0) network->set_direct_reads(direct_reads[i]);
    ranks.push_back(
        std::make_unique<Communicator>(network, Protocol{.offered_from = 1024,
                                                         .read_by = direct_reads[i]->read_by(),
                                                         .first_mark = direct_reads[i]->first_mark()}));
    values[i].communicator = ranks[i].get();
    ranks[i]->begin(run, 7, {.in_transit = Bytes{64} << 20, .offered = Bytes{32} << 20}, values[i]);
  }
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    values[0].add(k, content(k, sizes[k]));
    ranks[0]->task_finished(run, k, {{.number = 0, .value = k, .bytes = sizes[k], .to = {RankId{1}}}});
  }
  for (std::size_t k = 0; k < sizes.size(); ++k)
    EXPECT_TRUE(values[1].landed_value(k) == content(k, sizes[k])) << sizes[k] << " bytes";
  values[0].wait_until_left(sizes.size());
  while (!ranks[0]->is_quiescent()) std::this_thread::yield();
  const NetworkTraffic traffic = ranks[0]->traffic();
  for (const auto& rank : ranks) rank->end(run);
  std::thread other([&] { ranks[1].reset(); });  // each rank waits for the end of the other one
  ranks[0].reset();
  other.join();
  return traffic;
}

const std::vector<Bytes> sizes{
    8, 1023, 1024, 4096, 65536, (Bytes{1} << 20) - 8, Bytes{1} << 20, (Bytes{1} << 20) + 1, 5'000'001};

TEST(CopiedValues, ArriveUnchanged) {
  if (!system_lets_us_read()) GTEST_SKIP() << "no process_vm_readv";
  const NetworkTraffic traffic = sent_to_other(sizes, true);
  EXPECT_EQ(traffic.reads, sizes.size() - 2);
  EXPECT_EQ(traffic.payloads, 2u) << "they are too small";
}

TEST(CopiedValues, AreSentIfReadingFails) {
  if (!system_lets_us_read()) GTEST_SKIP() << "no process_vm_readv";
  const NetworkTraffic traffic = sent_to_other(sizes, false);
  EXPECT_EQ(traffic.offers, sizes.size() - 2);
  EXPECT_EQ(traffic.reads, 0u);
  EXPECT_EQ(traffic.payloads, sizes.size());
}

}  // namespace
}  // namespace fairlead::net
