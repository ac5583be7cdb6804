// Messages that programs send and receive explicitly.
#include <gtest/gtest.h>
#include <fairlead/completion.hpp>
#include <fairlead/error.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/messages.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "at_length.hpp"
#include "base/random.hpp"
#include "net/network.hpp"
#include "on_ranks.hpp"
#include "sanitized.hpp"

namespace fairlead::rank_messages {
namespace {

using Numbers = Vector<double>;
constexpr std::int64_t size = 100;

std::vector<std::string> on_ranks(std::uint32_t count, const std::function<void(Runtime&)>& rank,
                                  Bytes memory = Bytes{1} << 20, Bytes eager_limit = 2048) {
  const auto config_of = [&](std::uint32_t i) {
    Config config;
    config.set("workers", 1 + i % 2);
    config.set("memory", memory);
    config.set("bind-threads", false);
    config.set("eager-limit", eager_limit);
    return config;
  };
  return tests::on_ranks(count, config_of, rank);
}
void expect_nothing_thrown(const std::vector<std::string>& thrown) {
  for (const std::string& text : thrown) EXPECT_EQ(text, "");
}

const auto set = codelet("set").cpu([](Out<Numbers> v, double value) {
  for (std::int64_t k = 0; k < v.size(); ++k) v(k) = value;
});
const auto increment = codelet("increment").cpu([](InOut<Numbers> v) {
  for (std::int64_t k = 0; k < v.size(); ++k) v(k) += 1;
});
double value_of(Flow& flow, const Handle<Numbers>& handle) {
  auto hold = flow.acquire(read(handle));
  const auto v = hold.get<0>();
  for (std::int64_t k = 1; k < v.size(); ++k)
    if (v(k) != v(0)) return -1;
  return v(0);
}

// StarPU (Augonnet et al. 2012), Figure 2: a token goes round, and each rank adds one to it. The last rank of
// the last round does not send, since no rank would receive it.
TEST(Messages, ATokenGoesRound) {
  constexpr std::uint32_t rounds = tests::thread_sanitized ? 20 : 50;
  for (const std::uint32_t ranks : {2u, 3u, 5u})
    expect_nothing_thrown(on_ranks(ranks, [&](Runtime& runtime) {
      const std::uint32_t rank = runtime.rank();
      const auto token = runtime.vector<double>("token", size);
      Flow flow(runtime);
      for (std::uint32_t round = 0; round < rounds; ++round) {
        const bool first = round == 0 && rank == 0, last = round == rounds - 1 && rank == ranks - 1;
        if (first)
          flow.submit(set(token, 0.0));
        else
          receive_detached(runtime, token, (rank + ranks - 1) % ranks, round * ranks + rank);
        flow.submit(increment(token));
        if (!last) send_detached(runtime, token, (rank + 1) % ranks, round * ranks + rank + 1);
      }
      flow.wait();
      if (rank == ranks - 1) {
        EXPECT_EQ(value_of(flow, token), rounds * ranks);
      }
    }));
}

// The tag of the last message in a round is that of the first in the next.
TEST(Messages, MessagesOfOneTagArriveInOrder) {
  constexpr int count = 200;
  expect_nothing_thrown(on_ranks(2, [&](Runtime& runtime) {
    const auto v = runtime.vector<double>("v", size);
    Flow flow(runtime);
    std::vector<Message> messages;
    for (int i = 0; i < count; ++i)
      if (runtime.rank() == 0) {
        flow.submit(set(v, static_cast<double>(i)));
        messages.push_back(isend(runtime, v, 1));
      } else {
        receive(runtime, v, 0);
        EXPECT_EQ(value_of(flow, v), i);
      }
    wait_all(messages);
    for (const Message& message : messages) EXPECT_TRUE(message.test());
    flow.wait();
  }));
}

// Far more than a window of tasks: no message takes another's place, and early messages wait until they are
// received.
TEST(Messages, ManyMessagesInARow) {
  constexpr int count = tests::thread_sanitized ? 150 : tests::sanitized ? 300 : 3000;
  for (const bool different : {false, true})
    expect_nothing_thrown(on_ranks(3, [&](Runtime& runtime) {
      const std::uint32_t rank = runtime.rank();
      const auto v = runtime.vector<double>("v", size);
      std::int64_t right = 0;
      const auto look =
          codelet("look").cpu([&](In<Numbers> all, double value) { right += all(size - 1) == value; });
      Flow flow(runtime);
      if (rank != 0 && !different) flow.submit(set(v, static_cast<double>(rank)));
      for (int i = 0; i < count; ++i)
        if (rank != 0) {
          if (different) flow.submit(set(v, static_cast<double>(i * 2 + static_cast<int>(rank))));
          send_detached(runtime, v, 0);
        } else {
          for (const std::uint32_t from : {2u, 1u}) {
            receive_detached(runtime, v, from);
            flow.submit(look(v, different ? i * 2.0 + from : static_cast<double>(from)));
          }
        }
      flow.wait();
      if (rank == 0) {
        EXPECT_EQ(right, 2 * count);
      }
    }));
}

// A matrix is destroyed and a vector removed before their values are received.
TEST(Messages, MessagesAreSentAfterTheirDataAreRemoved) {
  constexpr int count = 20;
  std::atomic<bool> going{false};
  for (const bool matrix : {true, false}) {
    going = false;
    expect_nothing_thrown(on_ranks(
        2,
        [&](Runtime& runtime) {
          Flow flow(runtime);
          const auto fill = codelet("fill").cpu([](Out<Tile<double>> t) {
            for (std::int32_t j = 0; j < t.columns(); ++j)
              for (std::int32_t i = 0; i < t.rows(); ++i) t(i, j) = 5;
          });
          if (runtime.rank() == 1) {
            if (matrix) {
              const auto a = runtime.tiled<double>("a", 10, 10, 10);
              flow.submit(fill(a(0, 0)));
              for (int i = 0; i < count; ++i) send_detached(runtime, a(0, 0), 0);
            } else {
              const auto v = runtime.vector<double>("v", size);
              flow.submit(set(v, 5.0));
              for (int i = 0; i < count; ++i) send_detached(runtime, v, 0);
              going = true;
              runtime.remove(v);
            }
            going = true;
          } else {
            while (!going) std::this_thread::yield();
            const auto got = runtime.vector<double>("got", size);
            for (int i = 0; i < count; ++i) {
              receive(runtime, got, 1);
              EXPECT_EQ(value_of(flow, got), 5);
            }
          }
          flow.wait();
        },
        Bytes{1} << 20, 0));
  }
}

// Workers sleep while no message is expected.
TEST(Messages, NoWorkerPollsWithoutPendingMessages) {
  const std::vector<Rank> places = ranks_in_process(2);
  std::vector<std::thread> threads;
  for (const Rank& place : places)
    threads.emplace_back([&place] {
      Config config;
      config.set("workers", 1);
      config.set("memory", "64MiB");
      Runtime runtime(config, place);
      const auto v = runtime.vector<double>("v", size);
      Flow flow(runtime);
      flow.submit(set(v, 3.0));
      flow.wait();
      EXPECT_FALSE(place.network->is_active());
      runtime.rank() == 0 ? send(runtime, v, 1) : receive(runtime, v, 0);
      EXPECT_TRUE(place.network->is_active());
      EXPECT_EQ(value_of(flow, v), 3);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Messages, CallbacksWaitAllAndTest) {
  constexpr std::uint32_t count = 20;
  std::atomic<std::uint32_t> called{0};
  expect_nothing_thrown(on_ranks(2, [&](Runtime& runtime) {
    std::vector<Envelope<Numbers>> all;
    Flow flow(runtime);
    for (std::uint32_t i = 0; i < count; ++i) {
      all.push_back({runtime.vector<double>("v" + std::to_string(i), size), 1 - runtime.rank(), i});
      if (runtime.rank() == 0) flow.submit(set(all.back().datum, i));
    }
    const std::span<const Envelope<Numbers>> span(all);
    if (runtime.rank() == 0) {
      wait_all(isend(runtime, span));
      for (const auto& one : all) send_detached(runtime, one.datum, 1, one.tag + count, [&] { ++called; });
    } else {
      const auto messages = ireceive(runtime, span);
      wait_all(messages);
      for (std::uint32_t i = 0; i < count; ++i) {
        EXPECT_TRUE(messages[i].test());
        EXPECT_EQ(value_of(flow, all[i].datum), i);
      }
      for (const auto& one : all) receive_detached(runtime, one.datum, 0, one.tag + count, [&] { ++called; });
    }
    flow.wait();
  }));
  EXPECT_EQ(called, 2 * count);
}

// The program sleeps until a task finishes that only the callback of the message signals.
TEST(Messages, ACallbackThatFinishesATaskWakesTheProgram) {
  expect_nothing_thrown(on_ranks(2, [&](Runtime& runtime) {
    const auto v = runtime.vector<double>("v", size);
    std::optional<Completion> token;
    std::atomic<int> missing{2};  // the token, and the message
    const auto signal_at_last = [&] {
      if (--missing == 0) token->done();
    };
    const auto until_then = codelet("until then").cpu([&](Completion its) {
      token = std::move(its);
      signal_at_last();
    });
    Flow flow(runtime);
    if (runtime.rank() == 0) {
      flow.submit(set(v, 7.0));
      send_detached(runtime, v, 1);
    } else {
      receive_detached(runtime, v, 0, 0, signal_at_last);
      flow.submit(until_then());
    }
    flow.wait();
    EXPECT_EQ(value_of(flow, v), 7);
  }));
}

// A message contains the value of the tasks before it, whatever later tasks do; memory holds only a few
// values.
TEST(Messages, RandomExchangesInLittleMemory) {
  constexpr std::int64_t large = 1500;  // three pages
  for (std::uint64_t seed = 1; seed <= (tests::many_cases()       ? 60
                                        : tests::thread_sanitized ? 8
                                                                  : 15) &&
                               !::testing::Test::HasFailure();
       ++seed) {
    Random random(seed);
    const auto ranks = static_cast<std::uint32_t>(2 + random.below(4));
    struct Step {
      std::uint32_t from, to;
      std::size_t which, into;
      double value;
    };
    constexpr std::size_t vectors = 6;
    std::vector<Step> steps;
    std::vector<std::vector<double>> expected(ranks, std::vector<double>(vectors));
    for (int i = 0; i < 60; ++i) {
      Step step{.from = static_cast<std::uint32_t>(random.below(ranks)),
                .to = static_cast<std::uint32_t>(random.below(ranks)),
                .which = random.below(vectors),
                .into = random.below(vectors),
                .value = static_cast<double>(i)};
      if (step.from == step.to) continue;
      steps.push_back(step);
      expected[step.from][step.which] += step.value;
      expected[step.to][step.into] = expected[step.from][step.which];
    }
    const auto plus = codelet("plus").cpu([](InOut<Numbers> v, double value) {
      for (std::int64_t k = 0; k < v.size(); ++k) v(k) += value;
    });
    expect_nothing_thrown(on_ranks(
        ranks,
        [&](Runtime& runtime) {
          std::vector<Handle<Numbers>> own;
          Flow flow(runtime);
          for (std::size_t i = 0; i < vectors; ++i) {
            own.push_back(runtime.vector<double>("v" + std::to_string(i), large));
            flow.submit(set(own.back(), 0.0));
          }
          for (const Step& step : steps) {
            if (step.from == runtime.rank()) {
              flow.submit(plus(own[step.which], step.value));
              send_detached(runtime, own[step.which], step.to, step.from);
            } else if (step.to == runtime.rank()) {
              receive_detached(runtime, own[step.into], step.from, step.from);
            }
          }
          for (std::size_t i = 0; i < vectors; ++i)
            EXPECT_EQ(value_of(flow, own[i]), expected[runtime.rank()][i]) << "seed " << seed;
        },
        Bytes{64} << 10));
  }
}

// ---- more messages than memory holds

/// Both ranks send `count` values before either receives one, and check each value.
void both_send_first(std::int64_t values, Bytes memory, int count, bool different) {
  expect_nothing_thrown(on_ranks(
      2,
      [&](Runtime& runtime) {
        const std::uint32_t other = 1 - runtime.rank();
        std::vector<Handle<Numbers>> own;
        Flow flow(runtime);
        for (int i = 0; i < (different ? count : 1); ++i) {
          own.push_back(runtime.vector<double>("own" + std::to_string(i), values));
          flow.submit(set(own.back(), 10.0 * i + runtime.rank()));
        }
        flow.wait();
        const auto got = runtime.vector<double>("got", values);
        std::vector<Message> messages;
        for (int i = 0; i < count; ++i) {
          const auto& from = own[static_cast<std::size_t>(i) % own.size()];
          if (i % 2 == 0)
            messages.push_back(isend(runtime, from, other));
          else
            send_detached(runtime, from, other);
        }
        int right = 0;
        const auto look =
            codelet("look").cpu([&](In<Numbers> v, double value) { right += v(v.size() - 1) == value; });
        for (int i = 0; i < count; ++i) {
          receive_detached(runtime, got, other);
          flow.submit(look(got, (different ? 10.0 * i : 0) + other));
        }
        flow.wait();
        wait_all(messages);
        EXPECT_EQ(right, count);
      },
      memory));
}

TEST(Messages, BothSendManyBeforeEitherReceives) {
  both_send_first(1, Bytes{1} << 20, tests::sanitized ? 300 : 10'000, false);  // small ones
  both_send_first(1, Bytes{1} << 20, tests::sanitized ? 300 : 1'000, true);
  // Each is larger than the eager limit, and two may be sent ahead.
  both_send_first(1500, Bytes{64} << 10, tests::sanitized ? 100 : 300, false);
  both_send_first(1500, Bytes{256} << 10, 100, true);
}

// As many as one rank may have in flight to another: none waits for the receiver, whatever else is sent.
TEST(Messages, SmallMessagesAreSentBeforeTheyAreReceived) {
  constexpr std::int64_t small = 8, large = 1000;
  constexpr int count = (64 << 10) / (small * 8), others = tests::sanitized ? 100 : 300;
  expect_nothing_thrown(on_ranks(
      2,
      [&](Runtime& runtime) {
        const std::uint32_t other = 1 - runtime.rank();
        const auto v = runtime.vector<double>("v", small), w = runtime.vector<double>("w", large);
        Flow flow(runtime);
        flow.submit(set(v, 1.0 + runtime.rank()));
        flow.submit(set(w, 3.0 + runtime.rank()));
        for (int i = 0; i < others; ++i) send_detached(runtime, w, other);
        for (int i = 0; i < count; ++i) send(runtime, v, other, i % 2 == 0 ? 0 : 7);
        const auto got = runtime.vector<double>("got", small),
                   large_one = runtime.vector<double>("large", large);
        for (int i = 0; i < others; ++i) receive(runtime, large_one, other);
        EXPECT_EQ(value_of(flow, large_one), 3.0 + other);
        for (int i = 0; i < count; ++i) receive(runtime, got, other, i % 2 == 0 ? 0 : 7);
        EXPECT_EQ(value_of(flow, got), 1.0 + other);
        flow.wait();
      },
      Bytes{16} << 20));
}

// Each message has a tag of its own, and the last is received first: the others are sent on request.
TEST(Messages, TheLastMessageMayBeReceivedFirst) {
  for (const std::int64_t values : {1, 1500}) {
    constexpr std::uint32_t count = tests::thread_sanitized ? 150 : 300;
    expect_nothing_thrown(on_ranks(
        2,
        [&](Runtime& runtime) {
          const auto v = runtime.vector<double>("v", values);
          Flow flow(runtime);
          flow.submit(set(v, 4.0));
          for (std::uint32_t i = 0; i < count; ++i)
            if (runtime.rank() == 0)
              send_detached(runtime, v, 1, i);
            else
              receive(runtime, v, 0, count - 1 - i);
          flow.wait();
          EXPECT_EQ(value_of(flow, v), 4);
        },
        Bytes{64} << 10));
  }
}

// Rank 0 first sends rank 1 more than it can accept; then it lets rank 2 continue, which rank 1 waits for.
TEST(Messages, AReceiverMayWaitForAThirdRankFirst) {
  for (const std::int64_t values : {1, 1500})
    expect_nothing_thrown(on_ranks(
        3,
        [&](Runtime& runtime) {
          constexpr int count = tests::sanitized ? 400 : 4000;
          const auto v = runtime.vector<double>("v", values);
          Flow flow(runtime);
          flow.submit(set(v, 1.0 + runtime.rank()));
          if (runtime.rank() == 0) {
            for (int i = 0; i < count; ++i) send_detached(runtime, v, 1);
            send(runtime, v, 2);
          } else if (runtime.rank() == 2) {
            receive(runtime, v, 0);
            flow.submit(increment(v));
            send(runtime, v, 1);
          } else {
            receive(runtime, v, 2);
            EXPECT_EQ(value_of(flow, v), 2);
            for (int i = 0; i < count; ++i) receive_detached(runtime, v, 0);
            EXPECT_EQ(value_of(flow, v), 1);
          }
          flow.wait();
        },
        Bytes{128} << 10));
}

// The rank in the middle starts all transfers at once and runs no task.
TEST(Messages, ManyMessagesAreForwarded) {
  for (const std::int64_t values : {1, 600})
    expect_nothing_thrown(on_ranks(
        3,
        [&](Runtime& runtime) {
          constexpr int count = tests::thread_sanitized ? 150 : tests::sanitized ? 400 : 4000, places = 5;
          std::vector<Handle<Numbers>> own;
          for (int i = 0; i < places; ++i)
            own.push_back(runtime.vector<double>("own" + std::to_string(i), values));
          std::atomic<int> right{0};  // several places at a time
          const auto look =
              codelet("look").cpu([&](In<Numbers> v, double value) { right += v(v.size() - 1) == value; });
          Flow flow(runtime);
          for (int i = 0; i < count; ++i) {
            const auto& v = own[static_cast<std::size_t>(i % places)];
            if (runtime.rank() == 0)
              flow.submit(set(v, static_cast<double>(i)));
            else
              receive_detached(runtime, v, runtime.rank() - 1);
            if (runtime.rank() == 2)
              flow.submit(look(v, static_cast<double>(i)));
            else
              send_detached(runtime, v, runtime.rank() + 1);
          }
          flow.wait();
          if (runtime.rank() == 2) {
            EXPECT_EQ(right.load(), count);
          }
        },
        Bytes{128} << 10));
}

// One rank sends to all, and all to one, without a pause.
TEST(Messages, OneToManyAndManyToOne) {
  constexpr std::uint32_t ranks = 5;
  constexpr int count = tests::thread_sanitized ? 100 : tests::sanitized ? 300 : 3000;
  for (const bool to_one : {false, true}) {
    expect_nothing_thrown(on_ranks(ranks, [&](Runtime& runtime) {
      const std::uint32_t rank = runtime.rank();
      const auto v = runtime.vector<double>("v", 2);
      std::int64_t right = 0;
      const auto look = codelet("look").cpu([&](In<Numbers> all, double value) { right += all(1) == value; });
      Flow flow(runtime);
      if ((rank == 0) != to_one) {
        flow.submit(set(v, 1.0 + rank));
        for (int i = 0; i < count; ++i)
          for (std::uint32_t to = 0; to < (to_one ? 1 : ranks); ++to)
            if (to != rank) send_detached(runtime, v, to);
        flow.wait();
      } else {
        for (int i = 0; i < count; ++i)
          for (std::uint32_t from = 0; from < (to_one ? ranks : 1); ++from)
            if (from != rank) {
              receive_detached(runtime, v, from);
              flow.submit(look(v, 1.0 + from));
            }
        flow.wait();
        EXPECT_EQ(right, to_one ? count * (std::int64_t{ranks} - 1) : count);
      }
    }));
  }
}

// All ranks start all their sends, under a few tags, before they receive in an order of their own. At most
// two large messages are sent ahead, and as many small ones as fit in a kilobyte.
TEST(Messages, RandomExchangesWithAllSendsBeforeReceives) {
  for (std::uint64_t seed = 1; seed <= (tests::at_length()        ? 40
                                        : tests::thread_sanitized ? 3
                                        : tests::sanitized        ? 5
                                                                  : 40) &&
                               !::testing::Test::HasFailure();
       ++seed) {
    Random random(seed);
    const auto ranks = static_cast<std::uint32_t>(2 + random.below(3));
    struct Step {
      std::uint32_t from, to, tag;
      double value;
      bool large() const { return tag == 2; }
    };
    std::vector<Step> steps;
    for (int i = 0; i < 400; ++i) {
      const Step step{.from = static_cast<std::uint32_t>(random.below(ranks)),
                      .to = static_cast<std::uint32_t>(random.below(ranks)),
                      .tag = static_cast<std::uint32_t>(random.below(3)),
                      .value = static_cast<double>(i)};
      if (step.from != step.to) steps.push_back(step);
    }
    // The expected values: messages of one sender and tag arrive in the order of sending.
    std::vector<std::vector<Step>> received(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::vector<Step> left;
      for (const Step& step : steps)
        if (step.to == rank) left.push_back(step);
      while (!left.empty()) {
        const std::size_t drawn = random.below(left.size());
        const auto first = std::find_if(left.begin(), left.end(), [&](const Step& step) {
          return step.from == left[drawn].from && step.tag == left[drawn].tag;
        });
        received[rank].push_back(*first);
        left.erase(first);
      }
    }
    expect_nothing_thrown(on_ranks(
        ranks,
        [&](Runtime& runtime) {
          const std::uint32_t rank = runtime.rank();
          constexpr std::size_t places = 3;
          std::vector<Handle<Numbers>> into;
          Flow flow(runtime);
          for (const bool large : {false, true})
            for (std::size_t i = 0; i < places; ++i)
              into.push_back(runtime.vector<double>("into", large ? 600 : 10));
          std::atomic<std::size_t> right{0};  // several places at a time
          std::size_t next = 0;
          const auto look =
              codelet("look").cpu([&](In<Numbers> v, double value) { right += v(v.size() - 1) == value; });
          for (const Step& step : steps)
            if (step.from == rank) {
              // A task that changed this datum in the meantime would have to wait for the last receiver.
              const auto own = runtime.vector<double>("own", step.large() ? 600 : 10);
              flow.submit(set(own, step.value));
              send_detached(runtime, own, step.to, step.tag);
            }
          for (const Step& step : received[rank]) {
            const auto& place = into[(step.large() ? places : 0) + next++ % places];
            receive_detached(runtime, place, step.from, step.tag);
            flow.submit(look(place, step.value));
          }
          flow.wait();
          EXPECT_EQ(right.load(), received[rank].size()) << "seed " << seed;
        },
        Bytes{64} << 10));
  }
}

/// A stalled flow is cancelled, so that the test ends and reports the cause.
class EndedWhenQuiet {
 public:
  EndedWhenQuiet(Runtime& runtime, Flow& flow) : runtime_(runtime) {
    runtime_.on_quiet([&flow](const std::string& text) {
      ADD_FAILURE() << text;
      flow.cancel();
    });
  }
  EndedWhenQuiet(const EndedWhenQuiet&) = delete;
  EndedWhenQuiet& operator=(const EndedWhenQuiet&) = delete;
  ~EndedWhenQuiet() { runtime_.on_quiet({}); }

 private:
  Runtime& runtime_;
};

// Each rank has a task that needs nearly all its memory and waits for memory of incoming messages. The
// outgoing message, for which the other rank waits, must first be loaded from the disk.
TEST(Messages, MessagesProceedWhileATaskWaitsForMemory) {
  constexpr std::int64_t page = 512, pages = 64;
  constexpr int rounds = tests::sanitized ? 15 : 200;
  expect_nothing_thrown(on_ranks(
      2,
      [&](Runtime& runtime) {
        const std::uint32_t other = 1 - runtime.rank();
        const auto own = runtime.vector<double>("own", 8 * page),
                   got = runtime.vector<double>("got", 8 * page),
                   large = runtime.vector<double>("large", (pages - 4) * page);
        Flow flow(runtime);
        const EndedWhenQuiet guard(runtime, flow);
        flow.submit(set(own, 1.0 + runtime.rank()));
        flow.submit(set(large, 0.0));
        for (int round = 0; round < rounds; ++round) {
          receive_detached(runtime, got, other);
          send_detached(runtime, own, other);
          flow.submit(increment(large));
          flow.wait();
        }
        EXPECT_EQ(value_of(flow, got), 1.0 + other);
        EXPECT_EQ(value_of(flow, large), rounds);
      },
      Bytes{pages * page * sizeof(double)}));
}

TEST(Messages, MessagesThatDoNotFitInMemoryTogetherAreRefused) {
  constexpr std::int64_t page = 512, pages = 64;
  for (const std::string& text : on_ranks(
           2,
           [&](Runtime& runtime) {
             const std::uint32_t other = 1 - runtime.rank();
             const auto own = runtime.vector<double>("own", 40 * page),
                        got = runtime.vector<double>("got", 40 * page);
             Flow flow(runtime);
             flow.submit(set(own, 1.0 + runtime.rank()));
             // Sending and receiving with the same datum needs no second place.
             runtime.rank() == 0 ? send_detached(runtime, own, other) : receive_detached(runtime, own, other);
             runtime.rank() == 1 ? send_detached(runtime, own, other) : receive_detached(runtime, own, other);
             flow.wait();
             EXPECT_EQ(value_of(flow, own), 1);
             receive_detached(runtime, got, other);
             send_detached(runtime, own, other);
           },
           Bytes{pages * page * sizeof(double)}))
    EXPECT_NE(
        text.find("incoming and outgoing messages need 327680 bytes at once, and there is 262144 bytes"),
        std::string::npos)
        << text;
}

TEST(Messages, AMissingMessageIsReportedWhenItsSenderExits) {
  const auto thrown = on_ranks(2, [&](Runtime& runtime) {
    const auto v = runtime.vector<double>("v", size);
    if (runtime.rank() == 0) receive(runtime, v, 1, 7);
  });
  EXPECT_EQ(thrown[1], "");
  EXPECT_NE(thrown[0].find("rank 1 has ended"), std::string::npos) << thrown[0];
  EXPECT_NE(thrown[0].find("the tag 7"), std::string::npos) << thrown[0];
}

TEST(Messages, InvalidMessagesAreRefused) {
  expect_nothing_thrown(on_ranks(2, [&](Runtime& runtime) {
    const auto unwritten = runtime.vector<double>("unwritten", size);
    double x = 0;
    const auto own = runtime.value("x", x);
    const auto shared = runtime.vector<double>("shared", size, OwnedBy{0});
    const auto refused = [&](auto&& f) {
      try {
        f();
      } catch (const UsageError& error) {
        return std::string(error.what());
      }
      return std::string();
    };
    const std::uint32_t other = 1 - runtime.rank();
    EXPECT_NE(refused([&] { send(runtime, unwritten, other); }).find("nothing has written"),
              std::string::npos);
    EXPECT_NE(refused([&] { send(runtime, own, other); }).find("program's memory"), std::string::npos);
    EXPECT_NE(refused([&] { send(runtime, shared, other); }).find("all ranks know it"), std::string::npos);
    EXPECT_NE(refused([&] { receive(runtime, unwritten, 2); }).find("there is no rank 2"), std::string::npos);
    EXPECT_NE(refused([&] { receive(runtime, unwritten, runtime.rank()); }).find("itself"),
              std::string::npos);
    EXPECT_NE(refused([&] { receive(runtime, unwritten, other, 1u << 24); }).find("the tag"),
              std::string::npos);
  }));
}

}  // namespace
}  // namespace fairlead::rank_messages
