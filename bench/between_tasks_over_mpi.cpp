// The cost of MPI on a computing core: two ranks multiply tiles and poll MPI between two products, like
// Fairlead's workers and through its network layer. Values go both ways at the same time, each after an
// activate and a request.
//
//   mpirun -n 2 between_tasks_openmpi [--tile 256] [--products 2000] [--products-per-value 12] [--repetitions 3]
//
// Alternates runs without messages, with activates and requests, and with values. Rank 0 prints JSON for both
// ranks (medians): microseconds of a product and of an empty poll of MPI; the cost of a message and of a
// byte, sent or received, inside MPI; and the slowdown of products per byte that one of the ranks sends,
// caused by the operating system.
#include <fairlead/ranks.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "algorithms/linalg/blas/blas.hpp"
#include "median.hpp"
#include "net/network.hpp"
#include "over_mpi.hpp"

namespace {

using namespace fairlead;
using Clock = std::chrono::steady_clock;

struct Asked {
  std::int64_t tile = 256, products = 2000, products_per_value = 12;
  int repetitions = 3;
};

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

enum class Exchanged : std::uint8_t { nothing, messages, values };

/// Measurements of one rank in one run.
struct Taken {
  double in_mpi = 0, computing = 0;
  std::uint64_t messages = 0, bytes = 0;  // sent and received
  std::uint64_t looks = 0;
};

/// Values exchanged with the other rank by the protocol of docs/ranks.md.
class Exchange final : public net::Network::Listener {
 public:
  Exchange(net::Network& network, std::int64_t value_bytes)
      : network_(network), other_{1 - static_cast<std::uint32_t>(network.own())} {
    for (Places* const all : {&going_, &coming_})
      for (auto& one : *all) one.resize(static_cast<std::size_t>(value_bytes) / sizeof(double));
    network_.begin(*this);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() override { network_.end(); }

  void begin(Exchanged what) {
    what_ = what;
    activates_ = requests_ = answers_ = over_ = 0;
    taken = {};
  }
  /// False if the maximum number of values is in flight.
  bool activate() {
    if (activates_ - over_ >= places) return false;
    say(Kind::activate, activates_++);
    return true;
  }
  bool all_over() const { return over_ == activates_ && requests_ == answers_; }

  void came(net::RankId, std::span<const std::byte> message) override {
    Message it;
    if (message.size() != sizeof it) throw std::runtime_error("a message has the wrong length");
    std::memcpy(&it, message.data(), sizeof it);
    ++taken.messages;
    if (it.kind == Kind::activate) {
      if (what_ == Exchanged::values)
        network_.expect({net::PayloadId{2 * it.value}, other_, it.value, place(coming_, it.value).data(),
                         bytes(place(coming_, it.value))});
      else
        ++answers_;
      ++requests_;
      return say(Kind::request, it.value);
    }
    if (what_ == Exchanged::messages) {
      ++over_;
      return;
    }
    std::vector<double>& value = place(going_, it.value);
    value.front() = value.back() = static_cast<double>(it.value);
    network_.send(net::EndpointCommands::Payload{net::PayloadId{2 * it.value + 1}, other_, it.value,
                                                 value.data(), bytes(value)});
  }
  void landed(net::PayloadId id) override {
    const std::uint64_t number = static_cast<std::uint64_t>(id) / 2;
    const std::vector<double>& value = place(coming_, number);
    if (value.front() != static_cast<double>(number) || value.back() != static_cast<double>(number))
      throw std::runtime_error(fmt::format("value {} differs from the sent one", number));
    ++answers_, ++taken.messages;
    taken.bytes += bytes(value);
  }
  void left(net::PayloadId id) override {
    ++over_, ++taken.messages;
    taken.bytes += bytes(place(going_, static_cast<std::uint64_t>(id) / 2));
  }
  void poked() override {}
  void lost(const std::string& why) override { throw std::runtime_error(why); }
  void out_of_memory() noexcept override { std::abort(); }

  Taken taken;

 private:
  static constexpr std::size_t places = 8;
  using Places = std::array<std::vector<double>, places>;
  enum class Kind : std::uint64_t { activate, request };
  struct Message {  // as long as an activate with one output
    Kind kind{};
    std::uint64_t value = 0;
    std::array<std::uint64_t, 5> rest{};
  };
  static std::vector<double>& place(Places& of, std::uint64_t number) { return of[number % places]; }
  static Bytes bytes(const std::vector<double>& value) { return value.size() * sizeof(double); }
  void say(Kind kind, std::uint64_t value) {
    const Message message{kind, value};
    std::vector<std::byte> content(sizeof message);
    std::memcpy(content.data(), &message, sizeof message);
    ++taken.messages;
    network_.send({other_, std::move(content)});
  }

  net::Network& network_;
  const net::RankId other_;
  Exchanged what_{};
  Places going_, coming_;
  std::uint64_t activates_ = 0, over_ = 0;    // announced; received by the other rank
  std::uint64_t requests_ = 0, answers_ = 0;  // requested; received here
};

/// Products of tiles that exceed the caches together.
class Products {
 public:
  explicit Products(std::int64_t tile) : tile_(tile), blas_(linalg::Blas::load()) {
    for (auto& one : tiles_) one.assign(static_cast<std::size_t>(tile * tile), 1e-3);
  }
  void compute(std::int64_t number) {
    const int n = static_cast<int>(tile_);
    const auto at = [&](std::int64_t i) {
      return tiles_[static_cast<std::size_t>(i) % tiles_.size()].data();
    };
    blas_->gemm<double>(linalg::Transpose::no, linalg::Transpose::yes, n, n, n, -1e-3, at(number), n,
                        at(7 * number + 1), n, 1, at(3 * number + 2), n);
  }

 private:
  const std::int64_t tile_;
  const std::shared_ptr<const linalg::Blas> blas_;
  std::array<std::vector<double>, 48> tiles_;
};

void look_until(net::Network& network, const std::function<bool()>& done) {
  while (!done()) network.poll();
}

/// A barrier that keeps MPI progressing.
void meet(net::Network& network) {
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all);
  look_until(network, [&] {
    int here = 0;
    MPI_Test(&all, &here, MPI_STATUS_IGNORE);
    return here != 0;
  });
}

Taken run(net::Network& network, Exchange& exchange, Products& products, const Asked& asked, Exchanged what) {
  // More messages than in runs with values, since each is cheap.
  const std::int64_t apart = what == Exchanged::values
                                 ? asked.products_per_value
                                 : std::max<std::int64_t>(1, asked.products_per_value / 4);
  exchange.begin(what);
  meet(network);
  Clock::duration in_mpi{}, computing{};
  Clock::time_point next_look{};
  for (std::int64_t i = 0; i < asked.products; ++i) {
    const auto begin = Clock::now();
    products.compute(i);
    const auto end = Clock::now();
    computing += end - begin;
    if (what != Exchanged::nothing && i % apart == 0) exchange.activate();
    // Like WorkerThreads, between tasks.
    if (Clock::now() >= next_look) {
      const auto look = Clock::now();
      network.poll();
      const auto looked = Clock::now();
      next_look = looked + std::max<Clock::duration>(std::chrono::microseconds(20), 4 * (looked - look));
      ++exchange.taken.looks;
    }
    in_mpi += Clock::now() - end;
  }
  Taken taken = exchange.taken;
  taken.in_mpi = seconds(in_mpi);
  taken.computing = seconds(computing);
  // First all values are announced, then all are requested, then all have arrived.
  for (int i = 0; i < 2; ++i) {
    meet(network);
    look_until(network, [&] { return exchange.all_over(); });
  }
  meet(network);
  return taken;
}

/// Sum over both ranks.
double together(double of) {
  double sum = 0;
  MPI_Allreduce(&of, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

int bench(const Asked& asked) {
  const Rank rank = launched_rank();
  if (!are_two(rank)) return 2;
  Products products(asked.tile);
  Exchange exchange(*rank.network, asked.tile * asked.tile * 8);
  std::vector<double> product_us, look_us, message_us, byte_ns, lost_ns;
  double messages = 0, bytes = 0;
  for (int i = 0; i < asked.repetitions; ++i) {
    const Taken idle = run(*rank.network, exchange, products, asked, Exchanged::nothing);
    const Taken talk = run(*rank.network, exchange, products, asked, Exchanged::messages);
    const Taken values = run(*rank.network, exchange, products, asked, Exchanged::values);
    const double in_idle = together(idle.in_mpi), computing = together(idle.computing);
    const double talked = together(static_cast<double>(talk.messages));
    messages = together(static_cast<double>(values.messages));
    bytes = together(static_cast<double>(values.bytes));
    const double per_message = (together(talk.in_mpi) - in_idle) / talked;
    product_us.push_back(computing / (2e-6 * static_cast<double>(asked.products)));
    look_us.push_back(in_idle / together(static_cast<double>(idle.looks)) * 1e6);
    message_us.push_back(per_message * 1e6);
    byte_ns.push_back((together(values.in_mpi) - in_idle - per_message * messages) / bytes * 1e9);
    // Each byte is counted on both ranks, and both are slowed down.
    lost_ns.push_back((together(values.computing) - computing) / bytes * 1e9);
  }
  if (rank.number() == 0)
    fmt::print(
        R"({{"product_microseconds": {:.2f}, "look_microseconds": {:.3f}, "message_microseconds": {:.3f}, )"
        R"("byte_nanoseconds": {:.4f}, "computing_nanoseconds_of_a_byte": {:.4f}, )"
        R"("messages": {:.0f}, "bytes": {:.0f}}})"
        "\n",
        median(product_us), median(look_us), median(message_us), median(byte_ns), median(lost_ns), messages,
        bytes);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Asked asked;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    const std::int64_t value = std::max(1LL, std::atoll(argv[i + 1]));
    if (option == "--tile")
      asked.tile = value;
    else if (option == "--products")
      asked.products = value;
    else if (option == "--products-per-value")
      asked.products_per_value = value;
    else if (option == "--repetitions")
      asked.repetitions = static_cast<int>(value);
  }
  return between_ranks(argc, argv, "between_tasks", Others::aborted, [&] { return bench(asked); });
}
