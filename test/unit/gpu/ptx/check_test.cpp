//===- check_test.cpp - what CUDA does not allow --------------------------===//

#include "kernel_case.h"

#include <gtest/gtest.h>

namespace {

/// Begins an entry: %r1 is the thread's number, %l1 the address of its own 4 bytes of results.
const char *const kBegin = "mov.u32 %r1, %tid.x;\nmul.wide.u32 %l1, %r1, 4;\n"
                           "add.s64 %l1, %l30, %l1;\n";
const char *const kNumbers = ".shared .align 4 .b8 numbers[256];\n";

/// The message of the fault of a launch.
std::string faultOf(Machine &machine, ptx::Shape shape, uint64_t number = 0,
                    uint64_t sharedBytes = 0) {
  try {
    machine.launch(shape, number, sharedBytes);
  } catch (const ptx::Fault &fault) {
    return fault.what();
  }
  return "no fault";
}
std::string faultOf(const std::string &code, ptx::Shape shape = {1, 32}) {
  Machine machine(entryOf(kBegin + code));
  return faultOf(machine, shape);
}

void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

std::string errorOf(const std::string &text) {
  try {
    Machine machine(text);
  } catch (const ptx::TextError &error) {
    return error.what();
  }
  return "no error";
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

TEST(AddressChecks, FindTheEndOfAnAllocation) {
  expectPart(faultOf("st.global.b32 [%l1+512], %r1;\n"),
             "kernel 'k', line 15 (st.global.b32): thread 0 of block 0: writes 4 bytes at byte 512 "
             "of an allocation of 512 bytes");
  expectPart(faultOf("ld.global.b64 %l2, [%l30+-8];\n"), "reads 8 bytes at");
  expectPart(faultOf("mov.b64 %l2, 64;\nld.global.b32 %r2, [%l2];\n"),
             "an address outside of device memory");
}

TEST(AddressChecks, FindFreedMemory) {
  Machine machine(entryOf("ld.global.b32 %r1, [%l31];\n"));
  const uint64_t address = machine.memory.allocate(64).address;
  machine.memory.find(address, 64)->shadow.fill(0, 64);
  EXPECT_EQ(faultOf(machine, {1, 1}, address), "no fault");
  machine.memory.release(address);
  machine.memory.allocate(64);
  expectPart(faultOf(machine, {1, 1}, address), "reads 4 bytes at memory that was freed");
}

TEST(AddressChecks, FindWhatIsNotAligned) {
  expectPart(faultOf("st.global.b32 [%l30+2], %r1;\n"), "the address is not a multiple of 4");
  expectPart(faultOf("st.global.v4.b32 [%l30+8], {%r1, %r1, %r1, %r1};\n", {1, 1}),
             "the address is not a multiple of 16");
}

TEST(AddressChecks, FindTheEndOfOwnMemory) {
  expectPart(
      faultOf(std::string(kNumbers) + "mov.b64 %l2, numbers;\nst.shared.b32 [%l2+256], %r1;\n"),
      "accesses byte 256 of 256 bytes of shared memory");
  expectPart(
      faultOf(".local .align 4 .b8 depot[8];\nmov.b64 %l2, depot;\nst.local.b32 [%l2+8], %r1;\n"),
      "accesses byte 8 of 8 bytes of local memory");
}

TEST(AddressChecks, FindWhatNobodyWrote) {
  expectPart(faultOf("ld.global.b32 %r2, [%l1];\n"), "reads 4 bytes that nobody has written");
  EXPECT_EQ(faultOf("st.global.b8 [%l1+1], 3;\nld.global.b8 %h1, [%l1+1];\n"), "no fault");
  expectPart(faultOf("st.global.b8 [%l1+1], 3;\nld.global.b32 %r2, [%l1];\n"),
             "nobody has written");
  expectPart(faultOf(std::string(kNumbers) + "ld.shared.b32 %r2, [numbers];\n"),
             "nobody has written");
  expectPart(faultOf(".local .align 4 .b8 depot[8];\nld.local.b32 %r2, [depot];\n"),
             "reads local memory that it has not written");
}

TEST(AddressChecks, ForgetTheSharedMemoryOfOtherBlocks) {
  // Block 0 writes, all read.
  const std::string code = std::string(kNumbers) + "mov.u32 %r2, %ctaid.x;\n"
                                                   "setp.eq.b32 %p1, %r2, 0;\n"
                                                   "@%p1 st.shared.b32 [numbers], %r2;\n"
                                                   "ld.shared.b32 %r3, [numbers];\n";
  EXPECT_EQ(faultOf(code, {1, 1}), "no fault");
  expectPart(faultOf(code, {2, 1}), "nobody has written");
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

/// Threads write their own number and read that of the thread whose number differs by `other`.
std::string exchange(const std::string &barrier, uint32_t other) {
  return std::string(kNumbers) +
         "mul.wide.u32 %l2, %r1, 4;\n"
         "mov.b64 %l3, numbers;\n"
         "add.s64 %l2, %l3, %l2;\n"
         "st.shared.b32 [%l2], %r1;\n" +
         barrier + "xor.b32 %r2, %r1, " + std::to_string(other) +
         ";\n"
         "mul.wide.u32 %l2, %r2, 4;\n"
         "add.s64 %l2, %l3, %l2;\n"
         "ld.shared.b32 %r3, [%l2];\n";
}

TEST(RaceChecks, KnowBarriers) {
  EXPECT_EQ(faultOf(exchange("bar.sync 0;\n", 32), {1, 64}), "no fault");
  EXPECT_EQ(faultOf(exchange("bar.sync 0;\n", 1), {1, 64}), "no fault");
  EXPECT_EQ(faultOf(exchange("bar.warp.sync -1;\n", 1), {1, 64}), "no fault");
  // A barrier of a warp does not order warps, and a shuffle orders nothing.
  const std::string other = faultOf(exchange("bar.warp.sync -1;\n", 32), {1, 64});
  EXPECT_TRUE(other.find("without a barrier between them") != std::string::npos ||
              other.find("nobody has written") != std::string::npos)
      << other;
  expectPart(faultOf(exchange("shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;\n", 1)),
             "reads 4 bytes that thread 1 writes, without a barrier between them");
  expectPart(faultOf(exchange("", 1)), "without a barrier between them");
}

TEST(RaceChecks, FindWritesToWhatOthersRead) {
  // Thread 0 writes again what all read.
  const std::string code = std::string(kNumbers) + "setp.eq.b32 %p1, %r1, 0;\n"
                                                   "@%p1 st.shared.b32 [numbers], %r1;\n"
                                                   "bar.sync 0;\n"
                                                   "ld.shared.b32 %r2, [numbers];\n";
  expectPart(faultOf(code + "@%p1 st.shared.b32 [numbers], 5;\n"),
             "writes 4 bytes that thread 31 reads, without a barrier between them");
  EXPECT_EQ(faultOf(code + "bar.warp.sync -1;\n@%p1 st.shared.b32 [numbers], 5;\n"), "no fault");
}

TEST(RaceChecks, AllowOneWarpToWriteOneValue) {
  EXPECT_EQ(faultOf("st.global.b32 [%l30], 7;\n"), "no fault");
  expectPart(faultOf("st.global.b32 [%l30], %r1;\n"),
             "writes 4 bytes that thread 0 writes, without a barrier between them");
  expectPart(faultOf("st.global.b32 [%l30], 7;\n", {1, 64}), "without a barrier between them");
}

TEST(RaceChecks, FindBlocksThatShare) {
  for (const char *code : {"st.global.b32 [%l30], 7;\n", "mov.u32 %r2, %ctaid.x;\n"
                                                         "st.global.b32 [%l30], %r2;\n"
                                                         "bar.sync 0;\n"
                                                         "ld.global.b32 %r3, [%l30];\n"})
    expectPart(faultOf(code, {2, 1}), "writes 4 bytes that another block");
  // Both read it first.
  Machine machine(entryOf("ld.global.b32 %r1, [%l31];\n"
                          "mov.u32 %r2, %ctaid.x;\n"
                          "setp.eq.b32 %p1, %r2, 1;\n"
                          "@%p1 st.global.b32 [%l31], 5;\n"));
  ptx::Region &region = machine.memory.allocate(4);
  region.shadow.fill(0, 4);
  expectPart(faultOf(machine, {3, 1}, region.address), "another block");
}

TEST(RaceChecks, OrderLaunches) {
  Machine machine(entryOf(std::string(kBegin) + "st.global.b32 [%l30], 7;\n"));
  EXPECT_EQ(faultOf(machine, {1, 1}), "no fault");
  EXPECT_EQ(faultOf(machine, {1, 1}), "no fault");
}

TEST(RaceChecks, KnowTheBytesOfAWord) {
  const std::string own = "cvt.u64.u32 %l2, %r1;\nadd.s64 %l2, %l30, %l2;\n"
                          "st.global.b8 [%l2], 1;\n";
  EXPECT_EQ(faultOf(own), "no fault");
  expectPart(faultOf(own + "ld.global.b32 %r2, [%l30];\n"), "without a barrier between them");
  EXPECT_EQ(faultOf(own + "bar.sync 0;\nld.global.b32 %r2, [%l30];\n"), "no fault");
  // The word is whole again.
  EXPECT_EQ(faultOf(own + "bar.sync 0;\nst.global.b32 [%l1], %r1;\nld.global.b32 %r2, [%l1];\n"),
            "no fault");
}

TEST(RaceChecks, FindWritesPastTheCoherentCache) {
  expectPart(faultOf("st.global.b32 [%l1], %r1;\nld.global.nc.b32 %r2, [%l1];\n"),
             "past the coherent cache");
}

//===----------------------------------------------------------------------===//
// Threads that do not meet
//===----------------------------------------------------------------------===//

const char *const kHalf = "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra SKIP;\n";

TEST(MeetingChecks, FindBarriersOfSomeThreads) {
  expectPart(faultOf(std::string(kHalf) + "bar.sync 0;\nSKIP:\n"), "others have ended");
  expectPart(faultOf(std::string(kHalf) + "bar.sync 0;\nSKIP:\nbar.sync 1;\n"),
             "threads wait for each other at different places: lanes ffff0000 at 'bar.sync' in "
             "line 17; lanes 0000ffff at 'bar.sync' in line 19");
  // One of two warps.
  expectPart(faultOf("setp.lt.u32 %p1, %r1, 32;\n@%p1 ret;\nbar.sync 0;\n", {1, 64}),
             "(bar.sync): block 0: threads wait at the barrier, and others have ended");
  // Threads that ended before do not come.
  expectPart(faultOf("setp.lt.u32 %p1, %r1, 16;\n@%p1 ret;\nbar.sync 0;\n"), "others have ended");
}

TEST(MeetingChecks, FindShufflesOfSomeThreads) {
  const std::string shuffle = "shfl.sync.bfly.b32 %r2, %r1, 1, 31, ";
  expectPart(faultOf(kHalf + shuffle + "-1;\nSKIP:\nbar.warp.sync -1;\n"),
             "threads wait for each other at different places");
  EXPECT_EQ(faultOf(kHalf + shuffle + "0xffff0000;\nSKIP:\n"), "no fault");
  expectPart(faultOf(shuffle + "0xffff;\n"), "is not in its own mask");
  expectPart(
      faultOf(std::string(kHalf) + "shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffff0000;\nSKIP:\n"),
      "reads the value of lane 0, which does not take part");
  expectPart(faultOf(shuffle + "-1;\n", {1, 31}),
             "reads the value of lane 31, which does not take part");
}

TEST(MeetingChecks, KnowThatThreadsMayComeLater) {
  // Half of the threads come to the barrier after a loop.
  EXPECT_EQ(faultOf(std::string("mov.b32 %r2, 0;\n") + kHalf +
                        "LOOP:\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 9;\n@%p2 bra LOOP;\n"
                        "SKIP:\nbar.sync 0;\n",
                    {1, 64}),
            "no fault");
}

const std::string kMultiply = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                              "{%r2, %r3, %r4, %r5}, {%r6, %r7, %r8, %r9}, {%r10, %r11}, "
                              "{%r2, %r3, %r4, %r5};\n";
/// Each thread writes 16 bytes of shared memory, whose address is %l2.
const std::string kRows = ".shared .align 16 .b8 rows[512];\n"
                          "mul.wide.u32 %l2, %r1, 16;\nmov.b64 %l3, rows;\n"
                          "add.s64 %l2, %l3, %l2;\n"
                          "st.shared.v4.b32 [%l2], {%r1, %r1, %r1, %r1};\n";
std::string loadMatrix(const std::string &address) {
  return "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [" + address + "];\n";
}

TEST(MeetingChecks, FindMatricesOfSomeThreads) {
  for (const std::string &code : {kMultiply, kRows + loadMatrix("%l2")}) {
    EXPECT_EQ(faultOf(code), "no fault");
    // Threads may come later, if all do.
    EXPECT_EQ(faultOf(std::string(kHalf) + "mov.b32 %r2, 0;\nSKIP:\n" + code), "no fault");
    expectPart(faultOf(kHalf + code + "SKIP:\nbar.warp.sync -1;\n"),
               "threads wait for each other at different places");
    expectPart(faultOf("setp.lt.u32 %p1, %r1, 16;\n@%p1 ret;\n" + code),
               "thread 0 of block 0: does not take part in what all 32 threads of a warp must do");
    expectPart(faultOf(code, {1, 31}), "thread 31 of block 0: does not take part");
  }
  expectPart(faultOf("setp.lt.u32 %p1, %r1, 16;\n@%p1 " + kMultiply),
             "threads wait for each other at different places");
}

TEST(MatrixChecks, FindWrongRows) {
  const std::string barrier = "bar.warp.sync -1;\n";
  expectPart(faultOf(kRows + barrier + loadMatrix("%l2+8")), "the address is not a multiple of 16");
  EXPECT_EQ(faultOf(kRows + barrier + loadMatrix("%l2+384")), "no fault"); // of lanes 0 to 7
  expectPart(faultOf(kRows + barrier + loadMatrix("%l2+400")),
             "thread 7 of block 0: accesses byte 512 of 512 bytes of shared memory");
  expectPart(faultOf(kRows + loadMatrix("%l2+16")),
             "thread 0 of block 0: reads 16 bytes that thread 1 writes, without a barrier between");
  expectPart(faultOf(kRows + barrier + loadMatrix("%l2") + "st.shared.b32 [rows+16], %r2;\n"),
             "writes 4 bytes that thread 1 reads, without a barrier between");
  expectPart(faultOf(".shared .align 16 .b8 rows[16];\n" + loadMatrix("rows")),
             "reads 16 bytes that nobody has written");
}

TEST(AddressChecks, FindTheEndOfParameters) {
  const std::string code = "mov.b64 %l2, n;\nld.param.b64 %l3, [%l2";
  EXPECT_EQ(faultOf(code + "];\n"), "no fault");
  expectPart(faultOf(code + "+8];\n"), "reads byte 16 of the parameters, which is in none");
  expectPart(faultOf(code + "+4];\n"), "the address is not a multiple of 8");
}

TEST(AddressChecks, FindTheEndOfTheMemoryOfALaunch) {
  const std::string code = "mov.b64 %l2, own;\nst.shared.b32 [%l2+256], %r1;\n";
  expectPart(faultOf(".shared .align 4 .b8 own[260];\n" + code, {1, 1}), "no fault");
  Machine machine(".extern .shared .align 16 .b8 own[];\n" + entryOf(kBegin + code));
  EXPECT_EQ(faultOf(machine, {1, 1}, 0, 260), "no fault");
  expectPart(faultOf(machine, {1, 1}, 0, 256), "accesses byte 256 of 256 bytes of shared memory");
}

TEST(LaunchChecks, KnowTheLimitOfThreads) {
  Machine machine(".visible .entry k(.param .u64 a, .param .u64 b) .maxntid 64 { ret; }");
  expectPart(faultOf(machine, {1, 65}), "65 threads in a block, at most 64 are declared");
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

TEST(TextChecks, NameWhatIsNotImplemented) {
  expectPart(errorOf(entryOf("mov.b32 %r1, 0;\nwgmma.fence.sync.aligned;\n")),
             "line 13: 'wgmma.fence.sync.aligned': this opcode is not implemented");
  expectPart(errorOf(entryOf("add.rz.f32 %r1, %r1, %r1;\n")),
             "line 12: 'add.rz.f32': only with '.rn' is it implemented");
  expectPart(errorOf(entryOf("add.rn.ftz.f32 %r1, %r1, %r1;\n")), "'.ftz' is not implemented");
  expectPart(errorOf(entryOf("add.f32 %r1, %r1, %r1;\n")), "only with '.rn'"); // may be contracted
  expectPart(errorOf(entryOf("call f, (%r1);\n")), "expected");
  expectPart(errorOf(".extern .func f;\n"), "expected '.shared', got '.func'");
}

TEST(TextChecks, NameCopiesThatAreNotImplemented) {
  expectPart(errorOf(entryOf("cp.async.commit_group;\n")), "only with '.ca'");
  expectPart(errorOf(entryOf("cp.async.cg.shared.global [%r1], [%l1], 8, 8;\n")),
             "it cannot copy 8 bytes");
}

TEST(TextChecks, NameMatricesThatAreNotImplemented) {
  auto multiply = [](const std::string &modifiers, const std::string &d = "{%r1, %r2, %r3, %r4}") {
    return errorOf(entryOf("mma.sync.aligned." + modifiers + " " + d +
                           ", {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r1, %r2, %r3, %r4};\n"));
  };
  EXPECT_EQ(multiply("m16n8k16.row.col.f32.bf16.bf16.f32"), "no error");
  expectPart(multiply("m16n8k8.row.col.f32.f16.f16.f32"), "only with '.m16n8k16'");
  expectPart(multiply("m16n8k16.row.col.f16.f16.f16.f16"), "this type is not implemented");
  expectPart(multiply("m16n8k16.row.col.f32.f16.bf16.f32"), "this type is not implemented");
  expectPart(multiply("m16n8k16.row.col.f32.f16.f16.f32", "{%r1, %r2}"),
             "expected a vector of 4 registers");
  expectPart(errorOf(entryOf("ldmatrix.sync.aligned.m8n8.x2.shared.b8 {%r1, %r2}, [%r3];\n")),
             "only with '.b16'");
}

TEST(TextChecks, NameWhatIsWrong) {
  expectPart(errorOf(entryOf("add.s32 %r1, %r1;\n")), "expected 3 operands, got 2");
  expectPart(errorOf(entryOf("add.s32 %r1, %r1, %x;\n")), "got '%x', which is not declared");
  expectPart(errorOf(entryOf("add.s32 %r1, %r1, %l1;\n")), "'%l1' is of another size");
  expectPart(errorOf(entryOf("add.rn.f32 %r1, %r1, 1;\n")), "an operand that is not of its type");
  expectPart(errorOf(entryOf("bra NOWHERE;\n")), "no label 'NOWHERE'");
  expectPart(errorOf(entryOf("add.s32 %r1, %r1, %r2\n")), "line 14: expected ',', got 'ret'");
  expectPart(errorOf(entryOf("@%r1 bra A;\nA:\n")), "its guard '%r1' is no predicate");
  expectPart(errorOf(entryOf("ld.param.b64 %l1, [other];\n")), "expected a parameter");
  expectPart(errorOf(entryOf("ld.param.b64 %l1, [n+4];\n")), "outside of the parameter 'n'");
  expectPart(errorOf(entryOf("ld.param.v2.b32 {%r1, %r2}, [n+4];\n")),
             "outside of the parameter 'n'");
  expectPart(errorOf(entryOf("setp.lo.f16 %p1, %h1, %r1;\n")), "is of another size");
  expectPart(errorOf(entryOf("setp.ltu.s32 %p1, %r1, %r1;\n")), "no such comparison");
  expectPart(errorOf(entryOf("cvt.f32.s32 %r1, %r1;\n")), "it does not say how it rounds");
  expectPart(errorOf(entryOf("A:\nA:\n")), "a second label 'A'");
  expectPart(errorOf(entryOf(".reg .b32 %r5;\n")), "a second register '%r5'");
  expectPart(errorOf(".visible .entry k() { ret;"), "got the end of the text");
  expectPart(errorOf(entryOf("mov.b32 %r1, 0f3F8;\n")), "expected a number, got '0f3F8");
  expectPart(errorOf(".global .b32 x = {1, 2};\n"), "'x' has more values than elements");
  expectPart(errorOf(".visible .entry k() { ret; }\n.visible .entry k() { ret; }\n"),
             "a second entry 'k'");
}

} // namespace
