//===- warp_test.cpp - threads that do not all do the same ----------------===//

#include "kernel_case.h"

#include <bit>
#include <gtest/gtest.h>
#include <limits>

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

/// A thread copies 8 bytes, of which `there` are read, and reads the copy.
static uint64_t copied(const std::string &wait, int there = 8) {
  Machine machine(entryOf("st.global.b64 [%l30], %l31;\n"
                          "mov.b32 %r1, 0;\n"
                          "cp.async.ca.shared.global [%r1], [%l30], 8, " +
                          std::to_string(there) + ";\n" + wait +
                          "mov.b64 %l1, 0;\n"
                          "ld.shared.b64 %l2, [%l1];\n"
                          "st.global.b64 [%l30], %l2;\n"));
  machine.launch({1, 1}, 0x1122334455667788, 16);
  return machine.result(0);
}

TEST(SharedMemory, GetsCopiesAfterAWait) {
  EXPECT_EQ(copied("cp.async.wait_all;\n"), 0x1122334455667788u);
  EXPECT_EQ(copied("cp.async.wait_all;\n", 4), 0x55667788u);
  EXPECT_EQ(copied("cp.async.wait_all;\n", 0), 0u);
  EXPECT_EQ(copied(""), 0xa5a5a5a5a5a5a5a5u); // it may come at any time
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

TEST(SharedMemory, OfTheLaunchIsBehindVariables) {
  Machine machine(".extern .shared .align 16 .b8 launched[];\n"
                  ".shared .align 4 .b8 own[4];\n"
                  ".shared .align 4 .b8 unused[400];\n" +
                  entryOf("mov.b64 %l1, launched;\n"
                          "mov.b64 %l2, own;\n"
                          "sub.s64 %l3, %l1, %l2;\n"
                          "st.shared.b64 [%l1+56], %l3;\n"
                          "ld.shared.b64 %l4, [launched+56];\n"
                          "st.global.b64 [%l30], %l4;\n"));
  machine.launch({1, 1}, 0, 64);
  EXPECT_EQ(machine.result(0), 16u);
  EXPECT_EQ(machine.program.entries.at("k").sharedBytes, 16u);
}

TEST(Parameters, AreVectorsAndHaveAddresses) {
  Machine machine(".visible .entry k(.param .align 8 .b8 all[16])\n{\n"
                  ".reg .b32 %r<8>;\n.reg .b64 %l<8>;\n"
                  "ld.param.v2.b64 {%l1, %l2}, [all];\n"
                  "ld.param.v2.b32 {_, %r1}, [all+8];\n"
                  "mov.b64 %l3, all;\n"
                  "ld.param.v2.b32 {%r2, %r3}, [%l3+8];\n"
                  "ld.param.s16 %r4, [%l3+14];\n"
                  "st.global.b64 [%l1], %l2;\n"
                  "st.global.v4.b32 [%l1+16], {%r1, %r2, %r3, %r4};\n}\n");
  machine.launch({1, 1}, 0x8000123456789abc);
  EXPECT_EQ(machine.result(0), 0x8000123456789abcu);
  EXPECT_EQ(machine.result<uint32_t>(4), 0x80001234u);
  EXPECT_EQ(machine.result<uint32_t>(5), 0x56789abcu);
  EXPECT_EQ(machine.result<uint32_t>(6), 0x80001234u);
  EXPECT_EQ(machine.result<uint32_t>(7), 0xffff8000u);
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

template <typename T>
std::string listOf(const std::vector<T> &values) {
  std::string list;
  for (T value : values)
    list += (list.empty() ? "" : ", ") + std::to_string(value);
  return "{" + list + "}";
}

/// 16-bit floats, a (16 x 16) and b (8 columns of 16); and c (16 x 8).
struct Matrices {
  std::vector<float> a = std::vector<float>(256), b = std::vector<float>(128),
                     c = std::vector<float>(128);
};

/// The bits of numbers that `type` has exactly.
std::vector<uint16_t> narrow(const std::vector<float> &values, const std::string &type) {
  std::vector<uint16_t> all;
  for (float value : values)
    all.push_back(type == "f16" ? std::bit_cast<uint16_t>(_Float16(value))
                                : uint16_t(std::bit_cast<uint32_t>(value) >> 16));
  return all;
}

/// a b + c. Thread t has row t / 4 of a, of c and of the result, and column t / 4 of b.
std::vector<float> multiplied(const Matrices &matrices, const std::string &type) {
  std::vector<uint32_t> c;
  for (float value : matrices.c)
    c.push_back(std::bit_cast<uint32_t>(value));
  Machine machine(".global .align 4 .b16 a[256] = " + listOf(narrow(matrices.a, type)) + ";\n" +
                  ".global .align 4 .b16 b[128] = " + listOf(narrow(matrices.b, type)) + ";\n" +
                  ".global .align 8 .b32 c[128] = " + listOf(c) + ";\n" +
                  entryOf("mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 2;\nand.b32 %r3, %r1, 3;\n"
                          "mul.lo.s32 %r4, %r2, 32;\nmad.lo.s32 %r4, %r3, 4, %r4;\n"
                          "cvt.u64.u32 %l1, %r4;\n" // row t / 4 of 16 elements of 2 bytes
                          "mul.lo.s32 %r4, %r2, 32;\nmad.lo.s32 %r4, %r3, 8, %r4;\n"
                          "cvt.u64.u32 %l2, %r4;\n" // row t / 4 of 8 elements of 4 bytes
                          "mov.b64 %l3, a;\nadd.s64 %l3, %l3, %l1;\n"
                          "mov.b64 %l4, b;\nadd.s64 %l4, %l4, %l1;\n"
                          "mov.b64 %l5, c;\nadd.s64 %l5, %l5, %l2;\nadd.s64 %l6, %l30, %l2;\n"
                          "ld.global.b32 %r10, [%l3];\nld.global.b32 %r11, [%l3+256];\n"
                          "ld.global.b32 %r12, [%l3+16];\nld.global.b32 %r13, [%l3+272];\n"
                          "ld.global.b32 %r14, [%l4];\nld.global.b32 %r15, [%l4+16];\n"
                          "ld.global.v2.b32 {%r16, %r17}, [%l5];\n"
                          "ld.global.v2.b32 {%r18, %r19}, [%l5+256];\n"
                          "mma.sync.aligned.m16n8k16.row.col.f32." +
                          type + "." + type +
                          ".f32 {%r16, %r17, %r18, %r19}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, "
                          "{%r16, %r17, %r18, %r19};\n"
                          "st.global.v2.b32 [%l6], {%r16, %r17};\n"
                          "st.global.v2.b32 [%l6+256], {%r18, %r19};\n"));
  machine.launch({1, 32});
  std::vector<float> results;
  for (uint32_t i = 0; i < 128; ++i)
    results.push_back(machine.result<float>(i));
  return results;
}

TEST(Products, AreThoseOfMatrices) {
  for (const char *type : {"f16", "bf16"}) {
    Matrices matrices;
    for (int i = 0; i < 256; ++i)
      matrices.a[i] = float(i * i % 61 - 30) / 8;
    for (int i = 0; i < 128; ++i) {
      matrices.b[i] = float(i * i % 53 - 26) / 4;
      matrices.c[i] = float(i);
    }
    const auto results = multiplied(matrices, type);
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column) {
        float sum = matrices.c[row * 8 + column]; // all sums are exact
        for (int k = 0; k < 16; ++k)
          sum += matrices.a[row * 16 + k] * matrices.b[column * 16 + k];
        EXPECT_EQ(results[row * 8 + column], sum) << type << " " << row << " " << column;
      }
  }
}

TEST(Products, AreSumsInOrder) {
  Matrices matrices;
  for (int k = 0; k < 16; ++k) {
    matrices.a[k] = 1;                          // row 0: 2^24 + 1 is rounded to 2^24
    matrices.a[16 + k] = k == 0 ? -0x1p12f : 1; // row 1: the large sum is gone after k = 0
    matrices.b[k] = k == 0 ? 0x1p12f : 1;
  }
  matrices.c[0] = matrices.c[8] = 0x1p24f;
  matrices.a[32] = std::numeric_limits<float>::infinity(); // row 2
  matrices.c[16] = -std::numeric_limits<float>::infinity();
  const auto results = multiplied(matrices, "f16");
  EXPECT_EQ(results[0], 0x1p24f + 0x1p12f);
  EXPECT_EQ(results[8], 15.0f);
  EXPECT_EQ(std::bit_cast<uint32_t>(results[16]), 0x7fffffffu);
}

TEST(Products, KnowSubnormalsOfFloat16) {
  Matrices matrices;
  matrices.a[0] = 0x1p-24f;
  matrices.b[0] = 3 * 0x1p-24f;
  EXPECT_EQ(multiplied(matrices, "f16")[0], 3 * 0x1p-48f);
}

/// What ldmatrix gives to the threads: its i-th register is the result 32 i + t. Row r has the
/// numbers 8 r to 8 r + 7, and threads have the addresses of rows in reverse order: those from
/// `count` * 8 on have none.
std::vector<uint32_t> matricesOf(uint32_t count, const std::string &transposes, bool shortAddress) {
  std::string registers, stores;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string name = "%r" + std::to_string(10 + i);
    registers += (i == 0 ? "" : ", ") + name;
    stores += "st.global.b32 [%l3+" + std::to_string(128 * i) + "], " + name + ";\n";
  }
  const std::string rows = std::to_string(count * 8);
  Machine machine(".shared .align 16 .b8 rows[512];\n" +
                  entryOf("mov.u32 %r1, %tid.x;\nmov.b64 %l1, rows;\n"
                          "mul.wide.u32 %l2, %r1, 16;\nadd.s64 %l2, %l1, %l2;\n"
                          "mul.wide.u32 %l3, %r1, 4;\nadd.s64 %l3, %l30, %l3;\n"
                          "mad.lo.s32 %r2, %r1, 0x80008, 0x10000;\nadd.s32 %r3, %r2, 0x20002;\n"
                          "add.s32 %r4, %r3, 0x20002;\nadd.s32 %r5, %r4, 0x20002;\n"
                          "st.shared.v4.b32 [%l2], {%r2, %r3, %r4, %r5};\nbar.warp.sync -1;\n"
                          "sub.s32 %r6, " +
                          rows +
                          ", %r1;\nmul.wide.s32 %l4, %r6, 16;\n"
                          "add.s64 %l4, %l1, %l4;\n"
                          "setp.ge.u32 %p1, %r1, " +
                          rows +
                          ";\n@%p1 mov.b64 %l4, 1;\n"
                          "cvt.u32.u64 %r7, %l4;\n"
                          "ldmatrix.sync.aligned.m8n8.x" +
                          std::to_string(count) + transposes + ".shared.b16 {" + registers +
                          "}, [" + (shortAddress ? "%r7" : "%l4") + "+-16];\n" + stores));
  machine.launch({1, 32});
  std::vector<uint32_t> results;
  for (uint32_t i = 0; i < 32 * count; ++i)
    results.push_back(machine.result<uint32_t>(i));
  return results;
}

TEST(MatrixLoads, GiveElementsToThreads) {
  for (uint32_t count : {1, 2, 4})
    for (bool shortAddress : {false, true}) {
      const auto plain = matricesOf(count, "", shortAddress),
                 transposed = matricesOf(count, ".trans", shortAddress);
      auto element = [&](uint32_t matrix, uint32_t row, uint32_t column) {
        return (count * 8 - 1 - (matrix * 8 + row)) * 8 + column;
      };
      for (uint32_t i = 0; i < 32 * count; ++i) {
        const uint32_t matrix = i / 32, one = i % 32 / 4, other = i % 4 * 2;
        const uint32_t next = other + 1;
        EXPECT_EQ(plain[i], element(matrix, one, other) | element(matrix, one, next) << 16);
        EXPECT_EQ(transposed[i], element(matrix, other, one) | element(matrix, next, one) << 16);
      }
    }
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
