//===- recording.h - a GPU that is not there --------------------*- C++ -*-===//
//
// The recording driver has the symbols of libcuda, cuBLASLt and NCCL that the runtime
// asks for. Its device memory is memory of the host, at addresses that fault when the host
// follows them; copies, kernels (functions of the test) and products really happen, but
// late: what is given to streams runs some time later, in an order between streams that
// the seed chooses among those that the events allow. So what is not waited for is not
// there. Uses that CUDA does not allow are listed as problems.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_GPU_RECORDING_H
#define TEST_UNIT_GPU_RECORDING_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace recording {

struct Settings {
  uint64_t seed = 1;
  int devices = 1;
  int capability = 90;
  bool products = true; ///< cuBLASLt's are computed
};

/// Forgets kernels, problems and counts; nothing may be in use.
void reset(const Settings &settings = {});

/// Runs a kernel on the host: `pointers` translated, then `scalars`, all of 64 bits.
using Kernel = std::function<void(const std::vector<void *> &pointers,
                                  const std::vector<int64_t> &scalars, uint64_t threads)>;
/// What a launch of `symbol`, with so many parameters of either kind, does. The images of
/// modules are text and must declare it.
void addKernel(const std::string &symbol, int pointers, int scalars, Kernel kernel);
/// Launches of `symbol` do not end, until release().
void stall(const std::string &symbol);
void release();

/// What CUDA does not allow and happened all the same.
std::vector<std::string> problems();

/// How many calls there were so far.
struct Counts {
  uint64_t deviceAllocations = 0, hostAllocations = 0, deviceBytes = 0, hostBytes = 0;
  uint64_t made = 0; ///< streams, events, modules, descriptors and layouts
  uint64_t alive = 0;
  uint64_t launches = 0, products = 0, copies = 0, waits = 0, records = 0, queries = 0;
};
Counts counts();

} // namespace recording

#endif // TEST_UNIT_GPU_RECORDING_H
