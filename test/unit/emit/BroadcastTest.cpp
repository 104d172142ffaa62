//===- BroadcastTest.cpp - a collective from an op to ranks ---------------===//
//
// A step with broadcasts, as `partition` could create it, is packed, emitted, loaded and executed
// by ranks that each provide different bytes.
//
//===----------------------------------------------------------------------===//

#include "dialects/Zero/Zero.h"
#include "zero/Codegen/Compile.h"
#include "zero/Codegen/Passes.h"
#include "zero/Emit/Emit.h"
#include "zero/Emit/Passes.h"
#include "zero/Transforms/Pack/Passes.h"
#include "zero/Transforms/Schedule/Passes.h"
#include "zero_rt/zero_rt.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>
#include <unistd.h>

using namespace mlir;

namespace {

constexpr uint64_t kRanks = 3, kRows = 2, kColumns = 32, kElements = kRows * kColumns;
constexpr uint64_t kSteps = 3;

/// Broadcasts into a new buffer, in place, of the contents of a state, and of integers of the
/// program.
constexpr const char *kStep = R"(
#map = affine_map<(d0, d1) -> (d0, d1)>
module attributes {zero.ranks = 3 : i64, zero.stage = 0 : i64} {
  zero.buffer optimizer @kept : tensor<64xf32> shards 3
  zero.state optimizer @last : tensor<192xf32> {home = @kept, start = 0 : i64, splat = -1.0 : f64}
  func.func @step(%x: tensor<2x32xf32> {zero.binding = "x"},
                  %n: tensor<2xi64> {zero.binding = "n"})
      -> (tensor<2x32xf32> {zero.binding = "fresh"}, tensor<2x32xf32> {zero.binding = "in_place"},
          tensor<64xf32> {zero.binding = "state"}, tensor<2xi64> {zero.binding = "numbers"}) {
    %kept = zero.read @kept : tensor<64xf32>
    %state = zero.broadcast %kept from 2 {zero.name = "state"} : (tensor<64xf32>) -> tensor<64xf32>
    %fresh = zero.broadcast %x from 1 {zero.name = "fresh"} : (tensor<2x32xf32>) -> tensor<2x32xf32>
    %y = zero.launch @negate(%x) {zero.name = "negate"} : (tensor<2x32xf32>) -> tensor<2x32xf32>
    %in_place = zero.broadcast %y from 2 into %y {zero.name = "in place"}
        : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
    %numbers = zero.broadcast %n from 0 control over <[@data]> {zero.name = "numbers"}
        : (tensor<2xi64>) -> tensor<2xi64>
    %flat = tensor.collapse_shape %x [[0, 1]] : tensor<2x32xf32> into tensor<64xf32>
    zero.write @kept, %flat {zero.schedule = #zero.schedule<epilogue>} : tensor<64xf32>
    return %fresh, %in_place, %state, %numbers
        : tensor<2x32xf32>, tensor<2x32xf32>, tensor<64xf32>, tensor<2xi64>
  }
  func.func private @negate(%x: tensor<2x32xf32>) -> tensor<2x32xf32> attributes {zero.kernel} {
    %e = tensor.empty() : tensor<2x32xf32>
    %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<2x32xf32>) outs(%e : tensor<2x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %b = arith.negf %a : f32
      linalg.yield %b : f32
    } -> tensor<2x32xf32>
    return %y : tensor<2x32xf32>
  }
}
)";

/// Writes the executable of kStep to `path`.
LogicalResult compile(const std::string &path) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<zero::ZeroDialect>();
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kStep, &context);
  if (!module)
    return failure();
  PassManager manager(&context);
  zero::buildCodegenPipeline(manager);
  manager.addPass(zero::createVerifyStateOrder());
  manager.addPass(zero::createPackArena());
  manager.addPass(zero::createVerifyPacking());
  manager.addPass(zero::createVerifySchedule());
  if (failed(manager.run(*module)))
    return failure();
  zero::EmitOptions options;
  options.output = path;
  options.name = "broadcast";
  const zero::Storage storage(*module);
  return failure(failed(zero::emitExecutable(zero::PackedStep{*module, &storage}, options)));
}

/// The value of element `i` of x that `rank` provides in `step`.
float valueOf(uint64_t step, uint64_t rank, uint64_t i) {
  return float((step * kRanks + rank) * kElements + i);
}

class Broadcast : public testing::Test {
protected:
  void SetUp() override {
    const std::string path =
        testing::TempDir() + "zero-broadcast-" + std::to_string(::getpid()) + ".zexe";
    ASSERT_TRUE(succeeded(compile(path)));
    ok(zero_rt_executable_load(path.c_str(), &executable));
    ::unlink(path.c_str());
    zero_rt_session_options options;
    zero_rt_session_options_default(&options);
    options.timeout_seconds = 30;
    options.check_memory = 1;
    ASSERT_TRUE(executable);
    ok(zero_rt_session_create(executable, &options, &session));
    ok(zero_rt_data_create(executable, &data));
    bind();
    ok(zero_rt_session_set_data(session, data));
  }
  void TearDown() override {
    zero_rt_session_free(session);
    zero_rt_data_free(data);
    zero_rt_executable_free(executable);
  }

  void ok(zero_rt_status status) {
    EXPECT_EQ(status.code, ZERO_RT_OK) << (status.message ? status.message : "");
    zero_rt_status_release(&status);
  }

  void bind() {
    std::vector<float> x(kSteps * kRanks * kElements);
    std::vector<int64_t> n(kSteps * kRanks * kRows);
    for (uint64_t i = 0; i < x.size(); ++i)
      x[i] = float(i);
    for (uint64_t i = 0; i < n.size(); ++i)
      n[i] = int64_t(i) << 33;
    const uint64_t shape[] = {kSteps * kRanks * kRows, kColumns};
    ok(zero_rt_data_bind_memory(data, "x", ZERO_RT_F32, shape, 2, x.data()));
    ok(zero_rt_data_bind_memory(data, "n", ZERO_RT_I64, shape, 1, n.data()));
  }

  /// Expects that output `name` of `rank` has these bytes.
  template <typename T>
  void expect(const char *name, uint64_t rank, const std::vector<T> &expected) {
    std::vector<T> got(expected.size());
    ok(zero_rt_session_read_output(session, name, int(rank), got.data(), got.size() * sizeof(T)));
    EXPECT_EQ(got, expected) << name << " of rank " << rank;
  }

  zero_rt_executable *executable = nullptr;
  zero_rt_session *session = nullptr;
  zero_rt_data *data = nullptr;
};

TEST_F(Broadcast, GivesAllRanksTheBytesOfTheRoot) {
  for (uint64_t step = 0; step < kSteps; ++step) {
    zero_rt_step_result result;
    ok(zero_rt_session_step(session, 0, &result));
    std::vector<float> fresh(kElements), inPlace(kElements), state(kElements);
    for (uint64_t i = 0; i < kElements; ++i) {
      fresh[i] = valueOf(step, 1, i);
      inPlace[i] = -valueOf(step, 2, i);
      state[i] = step == 0 ? -1 : valueOf(step - 1, 2, i);
    }
    const int64_t first = int64_t(step * kRanks * kRows);
    for (uint64_t rank = 0; rank < kRanks; ++rank) {
      expect("fresh", rank, fresh);
      expect("in_place", rank, inPlace);
      expect("state", rank, state);
      expect<int64_t>("numbers", rank, {first << 33, (first + 1) << 33});
    }
  }
}

TEST_F(Broadcast, LeavesWhatRanksKeepToThem) {
  zero_rt_step_result result;
  ok(zero_rt_session_step(session, 0, &result));
  std::vector<float> last(kRanks * kElements);
  ok(zero_rt_session_read_tensor(session, "last", last.data(), last.size() * 4));
  for (uint64_t i = 0; i < last.size(); ++i)
    EXPECT_EQ(last[i], float(i));
}

TEST_F(Broadcast, IsCountedAndListed) {
  zero_rt_program_info info;
  ok(zero_rt_executable_info(executable, &info));
  EXPECT_EQ(info.planned_elements, 3 * kElements); // rank 0 is the root of none of these
  for (uint64_t step = 0; step < kSteps; ++step) {
    zero_rt_step_result result;
    ok(zero_rt_session_step(session, 0, &result));
  }
  const uint64_t received[] = {3 * kElements, 2 * kElements, kElements};
  for (uint64_t rank = 0; rank < kRanks; ++rank) {
    zero_rt_stats stats;
    ok(zero_rt_session_stats(session, int(rank), &stats));
    EXPECT_EQ(stats.model_elements, kSteps * received[rank]);
    EXPECT_EQ(stats.model_bytes, 4 * stats.model_elements);
    EXPECT_EQ(stats.control_elements, rank == 0 ? 0 : kSteps * kRows);
  }
  std::vector<std::string> labels;
  for (uint64_t i = 0; i < info.commands; ++i) {
    zero_rt_command_info command;
    ok(zero_rt_executable_command(executable, i, &command));
    if (command.kind != ZERO_RT_BROADCAST)
      continue;
    labels.push_back(command.label);
    EXPECT_STREQ(command.name, "broadcast");
    EXPECT_EQ(command.lane, ZERO_RT_COLLECTIVE);
    EXPECT_EQ(command.bytes, labels.back() == "numbers" ? 8 * kRows : 4 * kElements);
  }
  EXPECT_EQ(labels, (std::vector<std::string>{"state", "fresh", "in place", "numbers"}));
}

} // namespace
