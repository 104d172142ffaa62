//===- warp_test.cpp - threads that do not all do the same ----------------===//

#include "kernel_case.h"

#include <gtest/gtest.h>

namespace {

/// Ends an entry: stores %r0 as the result of a thread.
const char *const kStore = "mov.u32 %r31, %tid.x;\nmul.wide.u32 %l29, %r31, 4;\n"
                           "add.s64 %l29, %l30, %l29;\nst.global.b32 [%l29], %r0;\n";

std::vector<uint32_t> resultsOf(const std::string &code, uint32_t threads = 32, uint64_t number = 0,
                                uint64_t seed = 1) {
  Machine machine(entryOf(code + kStore), seed);
  machine.launch({1, threads}, number);
  std::vector<uint32_t> results;
  for (uint32_t thread = 0; thread < threads; ++thread)
    results.push_back(machine.result<uint32_t>(thread));
  return results;
}

TEST(Branches, DivideAndJoin) {
  const auto results = resultsOf("mov.u32 %r1, %tid.x;\n"
                                 "and.b32 %r2, %r1, 1;\n"
                                 "setp.eq.b32 %p1, %r2, 0;\n"
                                 "@%p1 bra EVEN;\n"
                                 "mov.b32 %r0, 100;\n"
                                 "bra.uni JOIN;\n"
                                 "EVEN:\n"
                                 "mov.b32 %r0, 200;\n"
                                 "JOIN:\n"
                                 // All threads are here again.
                                 "shfl.sync.bfly.b32 %r3, %r0, 1, 31, -1;\n"
                                 "add.s32 %r0, %r0, %r3;\n");
  EXPECT_EQ(results, std::vector<uint32_t>(32, 300));
}

TEST(Branches, LoopAsOftenAsEachThreadWants) {
  const auto results = resultsOf("mov.u32 %r1, %tid.x;\n"
                                 "mov.b32 %r0, 0;\n"
                                 "LOOP:\n"
                                 "setp.ge.u32 %p1, %r0, %r1;\n"
                                 "@%p1 bra END;\n"
                                 "add.s32 %r0, %r0, 1;\n"
                                 "bra LOOP;\n"
                                 "END:\n");
  for (uint32_t thread = 0; thread < 32; ++thread)
    EXPECT_EQ(results[thread], thread);
}

TEST(Branches, GoToTheIndexedTarget) {
  const auto results = resultsOf("mov.u32 %r1, %tid.x;\n"
                                 "and.b32 %r1, %r1, 1;\n"
                                 "TARGETS: .branchtargets ZERO, ONE;\n"
                                 "brx.idx %r1, TARGETS;\n"
                                 "ZERO:\n"
                                 "mov.b32 %r0, 5;\n"
                                 "bra END;\n"
                                 "ONE:\n"
                                 "mov.b32 %r0, 6;\n"
                                 "END:\n");
  for (uint32_t thread = 0; thread < 32; ++thread)
    EXPECT_EQ(results[thread], 5 + thread % 2);
}

TEST(Guards, LetOtherThreadsPass) {
  const auto results = resultsOf("mov.u32 %r1, %tid.x;\n"
                                 "setp.lt.u32 %p1, %r1, 4;\n"
                                 "mov.b32 %r0, 1;\n"
                                 "@%p1 mov.b32 %r0, 2;\n"
                                 "@!%p1 add.s32 %r0, %r0, 2;\n");
  for (uint32_t thread = 0; thread < 32; ++thread)
    EXPECT_EQ(results[thread], thread < 4 ? 2u : 3u);
}

TEST(Guards, EndSomeThreads) {
  Machine machine(entryOf(std::string("mov.u32 %r1, %tid.x;\n"
                                      "setp.ge.u32 %p1, %r1, 3;\n"
                                      "@%p1 ret;\n"
                                      "mov.b32 %r0, 9;\n") +
                          kStore));
  machine.launch({1, 32});
  EXPECT_EQ(machine.result<uint32_t>(2), 9u);
  EXPECT_EQ(machine.result<uint32_t>(3), 0xa5a5a5a5); // as memory is allocated
}

/// What `mode` gives to the threads, whose values are 100 + their numbers.
std::vector<uint32_t> shuffled(const std::string &mode, const std::string &operands) {
  return resultsOf("mov.u32 %r1, %tid.x;\nadd.s32 %r1, %r1, 100;\nshfl.sync." + mode +
                   ".b32 %r0|%p1, %r1, " + operands + ", -1;\n@%p1 add.s32 %r0, %r0, 1000;\n");
}

TEST(Shuffles, ReadOtherThreads) {
  const auto up = shuffled("up", "2, 0"), down = shuffled("down", "2, 31"),
             butterfly = shuffled("bfly", "16, 31"), index = shuffled("idx", "5, 31"),
             segments = shuffled("idx", "1, 0x181f"); // segments of 8 threads
  for (uint32_t thread = 0; thread < 32; ++thread) {
    EXPECT_EQ(up[thread], thread < 2 ? 100 + thread : 1098 + thread);
    EXPECT_EQ(down[thread], thread < 30 ? 1102 + thread : 100 + thread);
    EXPECT_EQ(butterfly[thread], 1100 + (thread ^ 16));
    EXPECT_EQ(index[thread], 1105u);
    EXPECT_EQ(segments[thread], 1101 + thread / 8 * 8);
  }
}

TEST(Votes, CountAllThreads) {
  const std::string odd = "mov.u32 %r1, %tid.x;\nand.b32 %r1, %r1, 1;\nsetp.eq.b32 %p1, %r1, 1;\n";
  EXPECT_EQ(resultsOf(odd + "vote.sync.ballot.b32 %r0, %p1, -1;\n")[0], 0xaaaaaaaa);
  const auto vote = [&](const std::string &mode) {
    return resultsOf(odd + "vote.sync." + mode +
                     ".pred %p2, %p1, -1;\nselp.b32 %r0, 1, 0, %p2;\n")[0];
  };
  EXPECT_EQ(vote("all"), 0u);
  EXPECT_EQ(vote("any"), 1u);
  EXPECT_EQ(vote("uni"), 0u);
}

/// Each thread puts a number to shared memory and reads that of another warp.
const char *const kExchange = "mov.u32 %r1, %tid.x;\n"
                              "mul.wide.u32 %l1, %r1, 4;\n"
                              "mov.b64 %l2, numbers;\n"
                              "add.s64 %l1, %l2, %l1;\n"
                              "st.shared.b32 [%l1], %r1;\n"
                              "bar.sync 0;\n"
                              "xor.b32 %r2, %r1, 32;\n"
                              "mul.wide.u32 %l1, %r2, 4;\n"
                              "add.s64 %l1, %l2, %l1;\n"
                              "ld.shared.b32 %r0, [%l1];\n";

TEST(SharedMemory, CarriesValuesPastABarrier) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto results =
        resultsOf(std::string(".shared .align 4 .b8 numbers[256];\n") + kExchange, 64, 0, seed);
    for (uint32_t thread = 0; thread < 64; ++thread)
      EXPECT_EQ(results[thread], thread ^ 32);
  }
}

TEST(SharedMemory, IsOfTheLaunchToo) {
  Machine machine(entryOf("mov.b64 %l1, 0;\n"
                          "st.shared.b64 [%l1+56], %l31;\n"
                          "ld.shared.b64 %l2, [%l1+56];\n"
                          "st.global.b64 [%l30], %l2;\n"));
  machine.launch({1, 1}, 77, 64);
  EXPECT_EQ(machine.result(0), 77u);
  EXPECT_THROW(machine.launch({1, 1}, 77, 32), ptx::Fault);
}

TEST(Memory, HasVectorsAndNarrowElements) {
  Machine machine(entryOf("mov.b32 %r1, 0x80ff7f01;\n"
                          "st.global.b32 [%l30], %r1;\n"
                          "ld.global.s8 %r2, [%l30+3];\n"
                          "ld.global.u8 %r3, [%l30+3];\n"
                          "ld.global.s16 %r4, [%l30+2];\n"
                          "ld.global.b16 %h1, [%l30];\n"
                          "cvt.u32.u16 %r5, %h1;\n"
                          "st.global.v4.b32 [%l30], {%r2, %r3, %r4, %r5};\n"
                          "ld.global.v2.b64 {%l1, %l2}, [%l30];\n"
                          "st.global.v2.b64 [%l30+16], {%l2, 7};\n"
                          "st.global.b8 [%l30+32], %h1;\n"
                          "st.global.v2.b16 [%l30+34], {%h1, %h1};\n"));
  EXPECT_THROW(machine.launch({1, 1}), ptx::Fault); // the last address is not a multiple of 4
  EXPECT_EQ(machine.result<uint32_t>(0), 0xffffff80u);
  EXPECT_EQ(machine.result<uint32_t>(1), 0x80u);
  EXPECT_EQ(machine.result<uint32_t>(2), 0xffff80ffu);
  EXPECT_EQ(machine.result<uint32_t>(3), 0x7f01u);
  EXPECT_EQ(machine.result<uint32_t>(4), 0xffff80ffu);
  EXPECT_EQ(machine.result<uint64_t>(3), 7u);
  EXPECT_EQ(machine.result<uint32_t>(8), 0xa5a5a501u);
}

TEST(Memory, OfAThreadIsItsOwn) {
  const auto results = resultsOf(".local .align 4 .b8 depot[8];\n"
                                 "mov.u32 %r1, %tid.x;\n"
                                 "mov.b64 %l1, depot;\n"
                                 "cvta.local.u64 %l2, %l1;\n"
                                 "st.local.b32 [%l1+4], %r1;\n"
                                 "ld.b32 %r0, [%l2+4];\n");
  for (uint32_t thread = 0; thread < 32; ++thread)
    EXPECT_EQ(results[thread], thread);
}

TEST(Memory, OfModulesHasInitialValues) {
  Machine machine(".global .align 4 .b8 table[8] = {1, 2, 3, 4};\n" +
                  entryOf("mov.b64 %l1, table+4;\n"
                          "ld.global.nc.b32 %r1, [table];\n"
                          "ld.global.b32 %r2, [%l1];\n"
                          "st.global.v2.b32 [%l30], {%r1, %r2};\n"));
  machine.launch({1, 1});
  EXPECT_EQ(machine.result(0), 0x04030201u);
}

TEST(Launches, RunAllBlocks) {
  Machine machine(entryOf("mov.u32 %r1, %ctaid.x;\n"
                          "mul.wide.u32 %l1, %r1, 8;\n"
                          "add.s64 %l1, %l30, %l1;\n"
                          "cvt.u64.u32 %l2, %r1;\n"
                          "st.global.b64 [%l1], %l2;\n"));
  machine.launch({64, 1});
  for (uint32_t block = 0; block < 64; ++block)
    EXPECT_EQ(machine.result(block), block);
}

} // namespace
