//===- messages.cpp - measures messages between processes -----------------===//
//
// usage: mpirun -n 2 messages. Two processes exchange messages of several sizes, both directions at
// once. The first prints a line of JSON for each size, with the median seconds of an exchange, and
// one with the resident memory and the threads that MPI takes.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/mpi/mpi_link.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>

using namespace zero::rt;
using Clock = std::chrono::steady_clock;

namespace {

/// Values of /proc/self/status.
struct Usage {
  long kilobytes = 0, threads = 0;
  std::string signals; ///< that are caught

  static Usage now() {
    Usage usage;
    std::ifstream file("/proc/self/status");
    for (std::string key, rest; file >> key; std::getline(file, rest))
      if (key == "VmRSS:")
        file >> usage.kilobytes;
      else if (key == "Threads:")
        file >> usage.threads;
      else if (key == "SigCgt:")
        file >> usage.signals;
    return usage;
  }
};

} // namespace

static void printUsage(const char *when, const Usage &usage) {
  std::printf("{\"when\": \"%s\", \"kilobytes\": %ld, \"threads\": %ld, \"signals\": \"%s\"}\n",
              when, usage.kilobytes, usage.threads, usage.signals.c_str());
}

static Status measure(Link &link, int self, uint64_t bytes) {
  std::vector<char> out(bytes, 1), in(bytes, 2);
  std::vector<double> seconds;
  const size_t rounds = bytes < 1024 ? 2000 : 30;
  for (size_t round = 0; round < rounds; ++round) {
    const auto begin = Clock::now();
    const Link::Message messages[] = {{1 - self, in.data(), bytes, false},
                                      {1 - self, out.data(), bytes, true}};
    ZERO_RT_TRY(link.exchange({"measure", round}, self, messages));
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::sort(seconds.begin(), seconds.end());
  if (self == 0)
    std::printf("{\"bytes\": %llu, \"seconds\": %.3g, \"longest\": %.3g}\n",
                static_cast<unsigned long long>(bytes), seconds[rounds / 2], seconds.back());
  return {};
}

static Status run() {
  const Usage before = Usage::now();
  std::shared_ptr<Mpi> mpi;
  ZERO_RT_TRY(Mpi::open({}, mpi));
  const Usage initialized = Usage::now();
  if (mpi->processes() != 2)
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected 2 processes, got %d", mpi->processes());
  std::unique_ptr<MpiLink> link;
  ZERO_RT_TRY(MpiLink::open({mpi, {0, 1}}, link));
  for (uint64_t bytes : {8ull, 1ull << 20, 16ull << 20, 128ull << 20})
    ZERO_RT_TRY(measure(*link, mpi->process(), bytes));
  if (mpi->process() == 0) {
    std::printf("{\"library\": \"%s\"}\n", mpi->library());
    printUsage("before", before);
    printUsage("initialized", initialized);
    printUsage("messages sent", Usage::now());
  }
  return {};
}

int main() {
  if (Status status = run(); !status.ok()) {
    std::fprintf(stderr, "messages: %s\n", status.getMessage().c_str());
    return 1;
  }
  return 0;
}
