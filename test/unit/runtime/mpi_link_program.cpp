//===- mpi_link_program.cpp - messages by MPI between processes -----------===//
//
// usage: mpirun -n N mpi-link-program CASE. Every process does the same; test/execute/mpi-*.test
// start it. Each prints a line with what happened.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/mpi/mpi_link.h"

#include <cstdio>
#include <dlfcn.h>
#include <map>
#include <thread>

using namespace zero::rt;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

/// A link for the same number of ranks in each process, and the ranks of this process.
struct Trial {
  std::shared_ptr<Mpi> mpi;
  std::unique_ptr<MpiLink> link;
  int ranks = 0;
  std::vector<int> own;

  Status open(int ranksPerProcess, double timeoutSeconds, uint64_t pieceBytes) {
    MpiLinkOptions options = {mpi, {}, timeoutSeconds, pieceBytes};
    ranks = mpi->processes() * ranksPerProcess;
    own.clear();
    // Neighbours are in different processes.
    for (int rank = 0; rank < ranks; ++rank) {
      options.processOfRank.push_back(rank % mpi->processes());
      if (options.processOfRank.back() == mpi->process())
        own.push_back(rank);
    }
    return MpiLink::open(options, link);
  }

  /// Runs `body` in a thread for each rank of this process; the first error of a rank counts.
  Status forRanks(const std::function<Status(int)> &body) const {
    std::vector<Status> results(own.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < own.size(); ++i)
      threads.emplace_back([&, i] { results[i] = body(own[i]); });
    for (std::thread &thread : threads)
      thread.join();
    for (const Status &result : results)
      ZERO_RT_TRY(result);
    return {};
  }
};

/// Messages of one exchange, with contents that tell them apart.
class Batch {
public:
  Batch(int self, int round) : self(self), round(round) {}

  void send(int peer, uint64_t bytes) { add(peer, bytes, true); }
  void receive(int peer, uint64_t bytes) { add(peer, bytes, false); }

  Status exchange(Link &link, const char *label) {
    ZERO_RT_TRY(link.exchange({label, uint64_t(round)}, self, messages));
    for (size_t i = 0; i < messages.size(); ++i)
      if (!messages[i].send && *data[i] != expected[i])
        return fail(ZERO_RT_INTERNAL, "%s: rank %d got wrong bytes from rank %d in round %d", label,
                    self, messages[i].peer, round);
    return {};
  }

private:
  void add(int peer, uint64_t bytes, bool isSend) {
    const int source = isSend ? self : peer, destination = isSend ? peer : self;
    const int number = numbers[{peer, isSend}]++;
    std::vector<char> text(bytes);
    for (uint64_t i = 0; i < bytes; ++i)
      text[i] = char(source * 31 + destination * 17 + round * 7 + number * 5 + i * 13 + i / 251);
    data.push_back(
        std::make_unique<std::vector<char>>(isSend ? text : std::vector<char>(bytes, 'x')));
    expected.push_back(isSend ? std::vector<char>() : std::move(text));
    messages.push_back({peer, data.back()->data(), bytes, isSend});
  }

  int self, round;
  std::vector<Link::Message> messages;
  std::vector<std::unique_ptr<std::vector<char>>> data;
  std::vector<std::vector<char>> expected; ///< of messages that are received
  std::map<std::pair<int, bool>, int> numbers;
};

} // namespace

static Status ring(const Trial &trial, int self, uint64_t bytes) {
  Batch batch(self, 1);
  batch.receive((self + trial.ranks - 1) % trial.ranks, bytes);
  batch.send((self + 1) % trial.ranks, bytes);
  return batch.exchange(*trial.link, "ring");
}

static Status allToAll(const Trial &trial, int self, uint64_t bytes) {
  Batch batch(self, 2);
  for (int peer = 0; peer < trial.ranks; ++peer)
    if (peer != self) {
      batch.send(peer, bytes);
      batch.receive(peer, bytes);
    }
  return batch.exchange(*trial.link, "all-to-all");
}

/// Short and long messages, which MPI sends in different ways, by turns.
static Status inOrder(const Trial &trial, int self) {
  for (int round = 0; round < 10; ++round) {
    Batch batch(self, round);
    for (int number = 0; number < 12; ++number) {
      const uint64_t bytes = number % 3 == 0 ? 100'000 : 8;
      batch.receive((self + 1) % trial.ranks, bytes);
      batch.send((self + trial.ranks - 1) % trial.ranks, bytes);
    }
    ZERO_RT_TRY(batch.exchange(*trial.link, "in order"));
  }
  return {};
}

static Status exchangeAll(const Trial &trial, int self) {
  for (uint64_t bytes : {0, 1, 65'535, 65'536, 65'537})
    ZERO_RT_TRY(allToAll(trial, self, bytes));
  for (uint64_t bytes : {8, 5 << 20 | 13, 16 << 20})
    ZERO_RT_TRY(ring(trial, self, bytes));
  return inOrder(trial, self);
}

static Status gather(Mpi &mpi) {
  const auto textOf = [](int process) { return std::string(size_t(process) * 100, 'a' + process); };
  std::vector<std::string> all;
  ZERO_RT_TRY(mpi.allGather("meeting", textOf(mpi.process()), all));
  if (int(all.size()) != mpi.processes())
    return fail(ZERO_RT_INTERNAL, "gathered %zu texts", all.size());
  for (int process = 0; process < mpi.processes(); ++process)
    if (all[process] != textOf(process))
      return fail(ZERO_RT_INTERNAL, "gathered '%s' from process %d", all[process].c_str(), process);
  return {};
}

static Status testExchanges(Trial &trial) {
  ZERO_RT_TRY(gather(*trial.mpi));
  for (int ranksPerProcess : {1, 2})
    for (uint64_t pieceBytes : {Transfers::kMostPieceBytes, uint64_t(1'000'003)}) {
      ZERO_RT_TRY(trial.open(ranksPerProcess, 20, pieceBytes));
      ZERO_RT_TRY(trial.forRanks([&](int self) { return exchangeAll(trial, self); }));
    }
  std::vector<std::string> all;
  return trial.mpi->allGather("end", "", all);
}

/// The last rank never comes.
static Status testAbsent(Trial &trial) {
  ZERO_RT_TRY(trial.open(1, 0.5, Transfers::kMostPieceBytes));
  if (trial.own[0] == trial.ranks - 1) {
    std::this_thread::sleep_for(milliseconds(1000));
    return fail(ZERO_RT_INTERNAL, "absent");
  }
  const Status first = allToAll(trial, trial.own[0], 8);
  const auto begin = Clock::now();
  const Status second = ring(trial, trial.own[0], 8);
  if (first.getMessage() != second.getMessage() || Clock::now() - begin > milliseconds(100))
    return fail(ZERO_RT_INTERNAL, "then '%s'", second.getMessage().c_str());
  return first;
}

/// Two ranks of each process wait for others that do not send.
static Status testAbort(Trial &trial) {
  ZERO_RT_TRY(trial.open(2, 20, Transfers::kMostPieceBytes));
  std::atomic<Clock::time_point> aborted{Clock::time_point::max()};
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(300));
    aborted = Clock::now();
    trial.link->abort(fail(ZERO_RT_INTERNAL, "stopped by a test"));
    trial.link->abort(fail(ZERO_RT_INTERNAL, "stopped again"));
  });
  const Status status = trial.forRanks([&](int self) -> Status {
    char byte;
    const Link::Message message = {(self + 1) % trial.ranks, &byte, 1, false};
    const Status ended = trial.link->exchange({"abort", 1}, self, {&message, 1});
    const auto late = Clock::now() - aborted.load();
    if (late < milliseconds(0) || late > milliseconds(100))
      return fail(ZERO_RT_INTERNAL, "the wait did not end with abort(): %s",
                  ended.getMessage().c_str());
    return ended;
  });
  other.join();
  return status;
}

/// Ranks disagree on the size of a message.
static Status testSizes(Trial &trial) {
  ZERO_RT_TRY(trial.open(1, 5, Transfers::kMostPieceBytes));
  const int self = trial.own[0], peer = 1 - self;
  char in[100], out[100] = {};
  const uint64_t received = self == 0 ? 100 : 40, sent = self == 0 ? 100 : 50;
  const Link::Message messages[] = {{peer, in, received, false}, {peer, out, sent, true}};
  return trial.link->exchange({"sizes", 3}, self, messages);
}

/// Somebody else has initialized MPI, for one thread at a time.
static Status testOthers(Trial &trial) {
  const ZeroMpiPlugin *plugin = nullptr;
  ZERO_RT_TRY(loadMpi(MpiOptions().environment, plugin));
  const auto init = reinterpret_cast<int (*)(int *, char ***, int, int *)>(
      ::dlsym(RTLD_DEFAULT, "MPI_Init_thread"));
  const auto finalize = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "MPI_Finalize"));
  const int serialized = 2;
  int level = 0;
  if (init(nullptr, nullptr, serialized, &level) != 0 || level < serialized)
    return fail(ZERO_RT_INTERNAL, "cannot initialize MPI");
  ZERO_RT_TRY(Mpi::open({}, trial.mpi));
  ZERO_RT_TRY(testExchanges(trial));
  trial.link.reset();
  trial.mpi.reset();
  return finalize() == 0 ? Status() : fail(ZERO_RT_INTERNAL, "MPI was finalized already");
}

/// MPI can be opened once, with the right number of processes.
static Status testOpen(Trial &trial) {
  MpiOptions options;
  options.processes = 99;
  std::printf("%s\n", Mpi::open(options, trial.mpi).getMessage().c_str());
  return Mpi::open({}, trial.mpi);
}

/// MPI is finalized, so this is the end.
static Status testAgain(Trial &trial) {
  ZERO_RT_TRY(Mpi::open({}, trial.mpi));
  MpiLinkOptions options = {trial.mpi, {0, 1}};
  std::printf("%s\n", MpiLink::open(options, trial.link).getMessage().c_str());
  options.processOfRank.assign(1 << 16, 0);
  std::printf("%s\n", MpiLink::open(options, trial.link).getMessage().c_str());
  trial.mpi.reset();
  options.mpi.reset();
  return Mpi::open({}, trial.mpi);
}

/// Whether the launcher started this process first.
static bool isFirst() {
  const char *process = std::getenv("OMPI_COMM_WORLD_RANK");
  if (!process)
    process = std::getenv("PMI_RANK");
  return process && std::atoi(process) == 0;
}

static Status run(const std::string &name) {
  using Case = Status (*)(Trial &);
  const std::map<std::string, Case> alone = {
      {"others", testOthers}, {"open", testOpen}, {"again", testAgain}};
  const std::map<std::string, Case> together = {{"exchange", testExchanges},
                                                {"absent", testAbsent},
                                                {"abort", testAbort},
                                                {"sizes", testSizes},
                                                {"init", testExchanges}};
  Trial trial;
  if (auto found = alone.find(name); found != alone.end())
    return found->second(trial);
  if (name == "init" && isFirst()) {
    std::this_thread::sleep_for(milliseconds(1500));
    return fail(ZERO_RT_INTERNAL, "away");
  }
  MpiOptions options;
  options.timeoutSeconds = name == "init" ? 0.5 : 20;
  ZERO_RT_TRY(Mpi::open(options, trial.mpi));
  return together.at(name)(trial);
}

int main(int, char **arguments) {
  const Status status = run(arguments[1]);
  std::printf("%s\n", status.ok() ? "passed" : status.getMessage().c_str());
  std::fflush(stdout);
  if (status.ok())
    return 0;
  // A launcher kills all processes when the first fails.
  std::this_thread::sleep_for(milliseconds(700));
  return 1;
}
