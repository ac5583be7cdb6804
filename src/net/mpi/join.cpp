// The plug-in's one symbol, through which a process joins those started with it.
#include <dlfcn.h>
#include <sched.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <vector>

#include "net/interface_of_plugins.hpp"
#include "net/mpi/mpi_network.hpp"
#include "net/mpi/plugin.hpp"

namespace fairlead::net {

namespace {

void end_mpi() {
  int over = 1;
  if (MPI_Finalized(&over) == MPI_SUCCESS && over == 0) MPI_Finalize();
}

void abort_by_mpi() { MPI_Abort(MPI_COMM_WORLD, 1); }

bool begin_mpi() {
  int begun = 0, level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Initialized(&begun), "report whether it is initialized");
  if (begun == 0) check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "initialize");
  return begun == 0;
}

/// MPI's level of thread support.
int level_of_threads() {
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "report its thread level");
  if (level < MPI_THREAD_FUNNELED)
    throw SystemError(
        "this MPI was initialized for a program without threads, but Fairlead uses threads: initialize it by "
        "MPI_Init_thread with MPI_THREAD_FUNNELED or a higher level, or let Fairlead initialize it");
  int is_main = 1;
  check_mpi(MPI_Is_thread_main(&is_main), "report which thread has initialized it");
  if (level == MPI_THREAD_FUNNELED && is_main == 0)
    throw SystemError(
        "this MPI may be called only by the thread that has initialized it, but another thread requests the "
        "rank's place");
  return level;
}

MPI_Comm own_copy(MPI_Comm of) {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(of, &copy), "create a communicator");
  check_mpi(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), "return errors");
  return copy;
}

/// Ranks that may use the same processors must divide them; all ranks on the machine must divide its memory.
Network::Sharing sharing_of_machine() {
  MPI_Comm machine = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine),
            "report the ranks of this machine");
  int ranks = 1, place = 0;
  check_mpi(MPI_Comm_size(machine, &ranks), "count ranks");
  check_mpi(MPI_Comm_rank(machine, &place), "number ranks");
  cpu_set_t own{};
  if (::sched_getaffinity(0, sizeof own, &own) != 0) CPU_ZERO(&own);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(ranks));
  check_mpi(MPI_Allgather(&own, static_cast<int>(sizeof own), MPI_BYTE, all.data(),
                          static_cast<int>(sizeof own), MPI_BYTE, machine),
            "report which processors ranks may use");
  check_mpi(MPI_Comm_free(&machine), "free a communicator");
  Network::Sharing sharing{.ranks = static_cast<std::uint32_t>(ranks),
                           .place_on_machine = static_cast<std::uint32_t>(place)};
  sharing.of_processors = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (CPU_EQUAL(&all[i], &own) == 0) continue;
    if (i < static_cast<std::size_t>(place)) ++sharing.place;
    ++sharing.of_processors;
  }
  return sharing;
}

std::vector<std::string> share(const std::string& own) {
  int ranks = 1;
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "count ranks");
  const int length = static_cast<int>(own.size());
  std::vector<int> lengths(static_cast<std::size_t>(ranks)), begins(lengths.size());
  check_mpi(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD),
            "exchange data between ranks");
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] = begins[i - 1] + lengths[i - 1];
  std::string all(static_cast<std::size_t>(begins.back() + lengths.back()), ' ');
  check_mpi(MPI_Allgatherv(own.data(), length, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR,
                           MPI_COMM_WORLD),
            "exchange data between ranks");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < begins.size(); ++i)
    texts.push_back(all.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(lengths[i])));
  return texts;
}

std::string version_of_mpi() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string version(text.data(), static_cast<std::size_t>(length));
  version.erase(std::min(version.find_first_of(",\n"), version.size()));
  std::replace(version.begin(), version.end(), '\t', ' ');
  return version;
}

/// Why MPI cannot receive into memory of CUDA devices, as MPI itself reports at run time. Not every MPI has that
/// function, so it is looked up. Empty: it can.
std::string why_not_into_devices() {
  constexpr int cuda = 0;  // MPIX_GPU_SUPPORT_CUDA
  int answer = 0;
  const char* asked = "MPIX_GPU_query_support";
  if (void* const of_any = ::dlsym(RTLD_DEFAULT, asked); of_any != nullptr) {
    if (reinterpret_cast<int (*)(int, int*)>(of_any)(cuda, &answer) != MPI_SUCCESS) answer = 0;
  } else {
    asked = "MPIX_Query_cuda_support";
    void* const of_cuda = ::dlsym(RTLD_DEFAULT, asked);
    if (of_cuda == nullptr)
      return version_of_mpi() + " does not report whether it receives into memory of CUDA devices";
    answer = reinterpret_cast<int (*)()>(of_cuda)();
  }
  return answer != 0 ? std::string()
                     : version_of_mpi() + " reports that it does not receive into memory of CUDA devices (" +
                           asked + ")";
}

/// True if a message of that size completes before the receiver posts a receive. Called by rank 0.
bool leaves_unasked(MPI_Comm by, const std::vector<char>& bytes, int size) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Isend(bytes.data(), size, MPI_CHAR, 1, 1, by, &request), "send");
  int left = 0;
  // The other rank must make progress, too, so that earlier messages are gone; it may share this core.
  const double until = MPI_Wtime() + 20e-3;
  while (left == 0 && MPI_Wtime() < until) {
    check_mpi(MPI_Test(&request, &left, MPI_STATUS_IGNORE), "send");
    if (left == 0) std::this_thread::yield();
  }
  check_mpi(MPI_Send(&size, 1, MPI_INT, 1, 2, by), "send");  // now the receiver may post its receive
  if (left == 0) check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "send");
  return left != 0;
}

std::uint64_t eager_bytes() {
  constexpr int most = 4 << 20, least = 16;
  int rank = 0, ranks = 1;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "number ranks");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "count ranks");
  MPI_Comm by = own_copy(MPI_COMM_WORLD);
  std::vector<char> bytes(most);
  int known = 0, beyond = most + 1;  // the largest eager size found, and the smallest that is not
  const auto probe = [&](int size) { (leaves_unasked(by, bytes, size) ? known : beyond) = size; };
  if (ranks > 1 && rank == 0) {
    for (int size = least; size <= most && beyond > most; size *= 2) probe(size);
    while (beyond <= most && beyond - known > 16) probe((known + beyond) / 2);
    const int over = -1;
    check_mpi(MPI_Send(&over, 1, MPI_INT, 1, 2, by), "send");
  } else if (rank == 1) {
    for (int size = 0;;) {
      check_mpi(MPI_Recv(&size, 1, MPI_INT, 0, 2, by, MPI_STATUS_IGNORE), "receive");
      if (size < 0) break;
      check_mpi(MPI_Recv(bytes.data(), size, MPI_CHAR, 0, 1, by, MPI_STATUS_IGNORE), "receive");
    }
  }
  check_mpi(MPI_Bcast(&known, 1, MPI_INT, 0, by), "notify ranks");
  check_mpi(MPI_Comm_free(&by), "free a communicator");
  return static_cast<std::uint64_t>(known);
}

std::string text_of_mpi(int level) {
  return version_of_mpi() + (level == MPI_THREAD_MULTIPLE     ? ", called by any thread"
                             : level == MPI_THREAD_SERIALIZED ? ", called by one thread at a time"
                                                              : ", called by the program's thread alone");
}

std::shared_ptr<Network> join() {
  const int level = level_of_threads();
  MpiGroups groups{.messages = own_copy(MPI_COMM_WORLD),
                   .long_messages = own_copy(MPI_COMM_WORLD),
                   .payloads = own_copy(MPI_COMM_WORLD)};
  check_mpi(MPI_Comm_rank(groups.messages, &groups.rank), "number ranks");
  check_mpi(MPI_Comm_size(groups.messages, &groups.ranks), "count ranks");
  int* largest = nullptr;
  int known = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest, &known), "report the largest tag");
  if (known != 0) groups.largest_tag = *largest;
  groups.sharing = sharing_of_machine();
  groups.by_one_thread = level == MPI_THREAD_FUNNELED;
  groups.why_not_into_devices = why_not_into_devices();
  return std::make_shared<MpiNetwork>(groups, text_of_mpi(level));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const MpiPlugin fairlead_mpi;
const MpiPlugin fairlead_mpi{interface_of_plugins, begin_mpi,  share, join, end_mpi,
                             abort_by_mpi,         eager_bytes};

}  // namespace fairlead::net
