//===- recording.h - a simulated GPU ----------------------------*- C++ -*-===//
//
// The recording driver exports the symbols of libcuda, cuBLASLt and NCCL that the runtime uses. Its
// device memory is host memory at addresses that fault when the host dereferences them. Copies,
// kernels (in PTX, or functions of the test) and products are executed, but with delay: the driver
// runs the work of streams later, in an order that the seed selects among those that the events
// allow. Results are therefore missing if the runtime does not wait for them. Uses that CUDA does
// not allow are recorded as problems.
//
// Without a test that calls reset(), the environment says what Settings say, and problems are
// printed at the end of the process, which then fails.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_GPU_RECORDING_H
#define TEST_UNIT_GPU_RECORDING_H

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace recording {

/// Algorithms of a product, which add the terms of a sum in different orders: from the first, from
/// the last, by halves, and those with even numbers first. They are offered in this order. By
/// halves takes 4 KiB of workspace. The fastest takes 10 ms, the others 12 to 14, but the last 16.
inline constexpr int kAlgorithms = 4, kByHalves = 2, kSlow = 3;

struct Settings {
  uint64_t seed = 1;
  int devices = 1;
  int capability = 90;
  /// Calls that wait for NCCL's kernels wait so long for them, and are then a problem.
  double hangSeconds = 10;
  /// The algorithm that is the fastest on GPU 0; on each further GPU it is the next one.
  int fastest = 0;
  int refused = -1; ///< the algorithm with which products fail
};

/// Removes kernels, problems and counts. Nothing may be in use.
void reset(const Settings &settings = {});

/// Runs a kernel on the host. Gets the translated `pointers`, then the `scalars`, which all have 64
/// bits.
using Kernel = std::function<void(const std::vector<void *> &pointers,
                                  const std::vector<int64_t> &scalars, uint64_t threads)>;
/// Defines the behaviour of launches of `symbol`, which has this number of parameters of either
/// kind. Modules must declare the symbol; the code that they have for it does not run.
void addKernel(const std::string &symbol, int pointers, int scalars, Kernel kernel);
/// Launches of `symbol` on `device`, or on all, also those of graphs, do not complete until
/// release() is called.
void stall(const std::string &symbol, int device = -1);
void release();
/// Launches of `symbol` on `device`, also those of graphs, fault from now on.
void fail(const std::string &symbol, int device);

/// Returns the uses that CUDA does not allow and that occurred.
std::vector<std::string> problems();
/// The same, and forgets them: a test has provoked them.
std::vector<std::string> takeProblems();

/// The number of calls so far.
struct Counts {
  uint64_t deviceAllocations = 0, hostAllocations = 0, deviceBytes = 0, hostBytes = 0;
  uint64_t made = 0; ///< streams, events, modules, descriptors and layouts
  uint64_t alive = 0;
  uint64_t urgent = 0;          ///< streams of the greatest priority that were made
  uint64_t mostDeviceBytes = 0; ///< at a time
  uint64_t allocationsOfNccl = 0, registrations = 0; ///< of memory, by NCCL
  uint64_t timings = 0;                              ///< times between events that were asked for
  std::array<uint64_t, kAlgorithms> algorithms{};    ///< products by algorithm
  uint64_t launches = 0, products = 0, copies = 0, waits = 0, records = 0, queries = 0;
  uint64_t calls = 0;  ///< of functions of the host
  uint64_t graphs = 0; ///< that were made ready for launches
  /// Calls that start work on a GPU: launches, products, copies, collectives and graphs, but not
  /// those that are captured.
  uint64_t starts = 0;
};
Counts counts();

} // namespace recording

#endif // TEST_UNIT_GPU_RECORDING_H
