//===- opcode_test.cpp - the result of each opcode ------------------------===//
//
// Where the CUDA toolkit is installed, its assembler reads the same lines.
//
//===----------------------------------------------------------------------===//

#include "kernel_case.h"

#include <bit>
#include <fstream>
#include <gtest/gtest.h>
#include <span>
#include <unistd.h>

namespace {

/// Lines that set %p0, %h0, %r0 or %l0, whichever they name first. Input i is in registers i + 1 of
/// all widths.
struct Case {
  const char *code;
  std::vector<uint64_t> inputs;
  uint64_t expected;
};

constexpr uint64_t bits(float value) { return std::bit_cast<uint32_t>(value); }
constexpr uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }
constexpr uint64_t kInfinity = 0x7f800000, kNan = 0x7fffffff, kSomeNan = 0xffc12345;
constexpr uint64_t kMinus = ~uint64_t(0); ///< -1 of any width

const Case kIntegers[] = {
    {"add.s32 %r0, %r1, %r2;", {0xffffffff, 3}, 2},
    {"add.s64 %l0, %l1, -5;", {3}, uint64_t(-2)},
    {"add.u16 %h0, %h1, %h2;", {0xffff, 2}, 1},
    {"sub.s16 %h0, %h1, %h2;", {1, 2}, 0xffff},
    {"sub.u64 %l0, %l1, %l2;", {1, 2}, kMinus},
    {"mul.lo.s32 %r0, %r1, %r2;", {0x10001, 0x10001}, 0x20001},
    {"mul.lo.s16 %h0, %h1, %h2;", {0xffff, 7}, 0xfff9},
    {"mul.lo.s64 %l0, %l1, %l2;", {kMinus, 7}, uint64_t(-7)},
    {"mul.hi.u32 %r0, %r1, %r2;", {0xffffffff, 0xffffffff}, 0xfffffffe},
    {"mul.hi.s32 %r0, %r1, %r2;", {0xffffffff, 2}, 0xffffffff},
    {"mul.hi.u64 %l0, %l1, %l2;", {kMinus, kMinus}, uint64_t(-2)},
    {"mul.wide.u32 %l0, %r1, %r2;", {0xffffffff, 4}, 0x3fffffffc},
    {"mul.wide.s32 %l0, %r1, %r2;", {0xffffffff, 4}, uint64_t(-4)},
    {"mul.wide.u16 %r0, %h1, %h2;", {0xffff, 0xffff}, 0xfffe0001},
    {"mul.wide.s16 %r0, %h1, %h2;", {0xffff, 3}, 0xfffffffd},
    {"mad.lo.s32 %r0, %r1, %r2, %r3;", {3, 5, 7}, 22},
    {"mad.lo.s64 %l0, %l1, %l2, %l3;", {kMinus, 5, 7}, 2},
    {"mad.hi.u32 %r0, %r1, %r2, %r3;", {0x80000000, 4, 1}, 3},
    {"mad.wide.u32 %l0, %r1, %r2, %l3;", {0xffffffff, 2, 1}, 0x1ffffffff},
    {"mad.wide.s32 %l0, %r1, %r2, %l3;", {0xffffffff, 2, 1}, kMinus},
    {"div.s32 %r0, %r1, %r2;", {uint32_t(-7), 2}, uint32_t(-3)},
    {"div.s32 %r0, %r1, %r2;", {0x80000000, 0xffffffff}, 0x80000000},
    {"div.u64 %l0, %l1, %l2;", {kMinus, 16}, kMinus >> 4},
    {"rem.s32 %r0, %r1, %r2;", {uint32_t(-7), 2}, uint32_t(-1)},
    {"rem.u64 %l0, %l1, %l2;", {17, 5}, 2},
    {"min.s32 %r0, %r1, %r2;", {0xffffffff, 1}, 0xffffffff},
    {"min.u64 %l0, %l1, %l2;", {kMinus, 1}, 1},
    {"max.s64 %l0, %l1, %l2;", {kMinus, 1}, 1},
    {"max.u32 %r0, %r1, %r2;", {0xffffffff, 1}, 0xffffffff},
    {"neg.s32 %r0, %r1;", {5}, uint32_t(-5)},
    {"abs.s64 %l0, %l1;", {uint64_t(-5)}, 5},
    {"abs.s16 %h0, %h1;", {0xfffb}, 5},
};

const Case kBits[] = {
    {"and.b32 %r0, %r1, %r2;", {12, 10}, 8},
    {"or.b64 %l0, %l1, %l2;", {12, 10}, 14},
    {"xor.b16 %h0, %h1, %h2;", {12, 10}, 6},
    {"not.b32 %r0, %r1;", {1}, 0xfffffffe},
    {"and.pred %p0, %p1, %p2;", {1, 0}, 0},
    {"or.pred %p0, %p1, %p2;", {1, 0}, 1},
    {"xor.pred %p0, %p1, %p2;", {1, 1}, 0},
    {"not.pred %p0, %p1;", {0}, 1},
    {"shl.b32 %r0, %r1, 31;", {3}, 0x80000000},
    {"shl.b64 %l0, %l1, %r2;", {3, 64}, 0},
    {"shl.b16 %h0, %h1, 8;", {0x1ff}, 0xff00},
    {"shr.u32 %r0, %r1, %r2;", {0x80000000, 31}, 1},
    {"shr.s32 %r0, %r1, %r2;", {0x80000000, 40}, 0xffffffff},
    {"shr.u64 %l0, %l1, 63;", {kMinus}, 1},
    {"shr.s64 %l0, %l1, 4;", {uint64_t(-32)}, uint64_t(-2)},
    {"shr.u16 %h0, %h1, 4;", {0xfff0}, 0xfff},
    {"shr.s16 %h0, %h1, 4;", {0xfff0}, 0xffff},
    {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", {0x80000001, 2, 33}, 5},
    {"shf.l.clamp.b32 %r0, %r1, %r2, %r3;", {0x80000001, 2, 40}, 0x80000001},
    {"shf.r.wrap.b32 %r0, %r1, %r2, %r3;", {2, 3, 33}, 0x80000001},
    {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", {2, 3, 40}, 3},
    {"popc.b32 %r0, %r1;", {0xf0f}, 8},
    {"popc.b64 %r0, %l1;", {kMinus}, 64},
    {"clz.b32 %r0, %r1;", {1}, 31},
    {"clz.b64 %r0, %l1;", {0}, 64},
    {"brev.b32 %r0, %r1;", {3}, 0xc0000000},
    {"bfe.u32 %r0, %r1, %r2, %r3;", {0xabcd, 4, 8}, 0xbc},
    {"bfe.s32 %r0, %r1, %r2, %r3;", {0xabcd, 4, 8}, 0xffffffbc},
    {"bfe.s32 %r0, %r1, %r2, %r3;", {0x80000000, 28, 8}, 0xfffffff8},
    {"bfe.u64 %l0, %l1, 4, 60;", {kMinus}, kMinus >> 4},
    {"bfi.b32 %r0, %r1, %r2, %r3, 8;", {0x1ab, 0xffff0000, 4}, 0xffff0ab0},
    {"bfi.b64 %l0, %l1, %l2, 32, 32;", {7, 5}, 0x700000005},
    {"prmt.b32 %r0, %r1, %r2, %r3;", {0x33221100, 0x77665544, 0x7531}, 0x77553311},
    {"prmt.b32 %r0, %r1, %r2, 0x000b;", {0x80000000, 0}, 0xff},
    {"prmt.b32 %r0, %r1, %r2, 0x5410U;", {0x1234, 0x5678}, 0x56781234},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0x96;", {0xff, 0x0f, 0x33}, 0xc3},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0xe8;", {0xff, 0x0f, 0x33}, 0x3f},
};

const Case kFloats[] = {
    {"add.rn.f32 %r0, %r1, %r2;", {bits(1e8f), bits(3.0f)}, bits(1e8f)},
    {"add.rn.f32 %r0, %r1, %r2;", {bits(1e-45f), bits(1e-45f)}, 2}, // subnormal
    {"add.rn.f32 %r0, %r1, %r2;", {kInfinity, kInfinity | 0x80000000}, kNan},
    {"add.rn.f32 %r0, %r1, %r2;", {kSomeNan, 0}, kNan},
    {"sub.rn.f32 %r0, %r1, %r2;", {bits(1.0f), bits(1.0f)}, 0},
    {"mul.rn.f32 %r0, %r1, %r2;", {bits(0.1f), bits(0.1f)}, bits(0.1f * 0.1f)},
    {"fma.rn.f32 %r0, %r1, %r2, %r3;",
     {bits(1.0f + 0x1p-23f), bits(1.0f - 0x1p-23f), bits(-1.0f)},
     bits(-0x1p-46f)},
    {"fma.rn.f64 %l0, %l1, %l2, %l3;",
     {bits(1.0 + 0x1p-52), bits(1.0 - 0x1p-52), bits(-1.0)},
     bits(-0x1p-104)},
    {"fma.rn.f16 %h0, %h1, %h2, %h3;", {0x3c01, 0x3bfe, 0xbc00}, 0x8010},
    {"div.rn.f32 %r0, %r1, %r2;", {bits(1.0f), bits(3.0f)}, bits(1.0f / 3.0f)},
    {"div.rn.f64 %l0, %l1, %l2;", {bits(1.0), bits(3.0)}, bits(1.0 / 3.0)},
    {"add.rn.f64 %l0, %l1, 0d3FF0000000000000;", {bits(1e16)}, bits(1e16)},
    {"sub.rn.f64 %l0, %l1, %l2;", {bits(1.0), bits(0.75)}, bits(0.25)},
    {"mul.rn.f64 %l0, %l1, %l2;", {bits(1.5), bits(1.5)}, bits(2.25)},
    {"add.rn.f16 %h0, %h1, %h2;", {0x6800, 0x3c00}, 0x6800}, // 2048 + 1: to even
    {"mul.rn.f16 %h0, %h1, %h2;", {0x3e00, 0x4000}, 0x4200},
    {"sub.rn.f16 %h0, %h1, %h2;", {0x4200, 0x3c00}, 0x4000},
    {"add.rn.f16x2 %r0, %r1, %r2;", {0x68003c00, 0x3c003c00}, 0x68004000},
    {"mul.rn.f16x2 %r0, %r1, %r2;", {0x3e004000, 0x40003c00}, 0x42004000},
    {"add.rn.bf16 %h0, %h1, %h2;", {0x4380, 0x3f80}, 0x4380}, // 256 + 1: to even
    {"min.f32 %r0, %r1, %r2;", {kSomeNan, bits(2.0f)}, bits(2.0f)},
    {"min.f32 %r0, %r1, %r2;", {0, 0x80000000}, 0x80000000},
    {"max.f32 %r0, %r1, %r2;", {0x80000000, 0}, 0},
    {"max.f32 %r0, %r1, %r2;", {bits(2.0f), bits(3.0f)}, bits(3.0f)},
    {"max.NaN.f32 %r0, %r1, %r2;", {kSomeNan, bits(2.0f)}, kNan},
    {"min.NaN.f32 %r0, %r1, %r2;", {bits(1.0f), bits(2.0f)}, bits(1.0f)},
    {"max.f64 %l0, %l1, %l2;", {bits(1.0), bits(2.0)}, bits(2.0)},
    {"neg.f32 %r0, %r1;", {bits(1.0f)}, bits(-1.0f)},
    {"neg.f64 %l0, %l1;", {bits(1.0)}, bits(-1.0)},
    {"abs.f32 %r0, %r1;", {bits(-1.0f)}, bits(1.0f)},
    {"neg.f16 %h0, %h1;", {0x3c00}, 0xbc00},
    {"abs.bf16 %h0, %h1;", {0xbf80}, 0x3f80},
    {"sqrt.rn.f32 %r0, %r1;", {bits(2.0f)}, bits(1.41421354f)},
    {"sqrt.rn.f32 %r0, %r1;", {bits(-2.0f)}, kNan},
    {"sqrt.rn.f64 %l0, %l1;", {bits(2.25)}, bits(1.5)},
    {"rcp.rn.f32 %r0, %r1;", {bits(3.0f)}, bits(1.0f / 3.0f)},
    {"rcp.rn.f64 %l0, %l1;", {bits(4.0)}, bits(0.25)},
    {"rcp.approx.ftz.f32 %r0, %r1;", {1}, kInfinity},
    {"sqrt.approx.f32 %r0, %r1;", {bits(9.0f)}, bits(3.0f)},
    {"rsqrt.approx.f32 %r0, %r1;", {bits(4.0f)}, bits(0.5f)},
    {"ex2.approx.f32 %r0, %r1;", {bits(-2.0f)}, bits(0.25f)},
    {"ex2.approx.ftz.f32 %r0, %r1;", {bits(-130.0f)}, 0},
    {"lg2.approx.f32 %r0, %r1;", {bits(8.0f)}, bits(3.0f)},
    {"sin.approx.f32 %r0, %r1;", {0}, 0},
    {"cos.approx.f32 %r0, %r1;", {0}, bits(1.0f)},
    {"tanh.approx.f32 %r0, %r1;", {kInfinity}, bits(1.0f)},
    {"copysign.f32 %r0, %r1, %r2;", {bits(-1.0f), bits(2.0f)}, bits(-2.0f)},
};

const Case kConversions[] = {
    {"cvt.u32.u64 %r0, %l1;", {0x123456789}, 0x23456789},
    {"cvt.u64.u32 %l0, %r1;", {0xffffffff}, 0xffffffff},
    {"cvt.s64.s32 %l0, %r1;", {0xffffffff}, kMinus},
    {"cvt.u32.u16 %r0, %h1;", {0xffff}, 0xffff},
    {"cvt.s32.s16 %r0, %h1;", {0xffff}, 0xffffffff},
    {"cvt.u16.u64 %h0, %l1;", {0x12345}, 0x2345},
    {"cvt.s32.s8 %r0, %r1;", {0x1ff}, 0xffffffff},
    {"cvt.u32.u8 %r0, %h1;", {0x1ff}, 0xff},
    {"cvt.s16.s8 %h0, %h1;", {0x80}, 0xff80},
    {"cvt.rn.f32.s32 %r0, %r1;", {16777217}, bits(16777216.0f)},
    {"cvt.rn.f32.u32 %r0, %r1;", {0xffffffff}, bits(4294967296.0f)},
    {"cvt.rn.f32.s64 %r0, %l1;", {uint64_t(-3)}, bits(-3.0f)},
    {"cvt.rn.f32.u64 %r0, %l1;", {(uint64_t(1) << 40) + 1}, bits(0x1p40f)},
    {"cvt.rn.f64.s64 %l0, %l1;", {uint64_t(-3)}, bits(-3.0)},
    {"cvt.rn.f64.u64 %l0, %l1;", {5}, bits(5.0)},
    {"cvt.rzi.s32.f32 %r0, %r1;", {bits(-1.9f)}, 0xffffffff},
    {"cvt.rzi.s32.f32 %r0, %r1;", {bits(3e9f)}, 0x7fffffff},
    {"cvt.rzi.s32.f32 %r0, %r1;", {kSomeNan}, 0},
    {"cvt.rzi.u32.f32 %r0, %r1;", {bits(-5.0f)}, 0},
    {"cvt.rzi.s64.f32 %l0, %r1;", {kSomeNan}, uint64_t(1) << 63},
    {"cvt.rzi.s64.f64 %l0, %l1;", {bits(-2.7)}, uint64_t(-2)},
    {"cvt.rni.s32.f32 %r0, %r1;", {bits(2.5f)}, 2},
    {"cvt.rmi.s32.f32 %r0, %r1;", {bits(-2.5f)}, uint32_t(-3)},
    {"cvt.rpi.s32.f32 %r0, %r1;", {bits(2.1f)}, 3},
    {"cvt.rmi.f32.f32 %r0, %r1;", {bits(-2.5f)}, bits(-3.0f)},
    {"cvt.rpi.f32.f32 %r0, %r1;", {bits(2.1f)}, bits(3.0f)},
    {"cvt.rni.f32.f32 %r0, %r1;", {bits(3.5f)}, bits(4.0f)},
    {"cvt.rzi.f32.f32 %r0, %r1;", {bits(-3.9f)}, bits(-3.0f)},
    {"cvt.f64.f32 %l0, %r1;", {bits(0.1f)}, bits(double(0.1f))},
    {"cvt.rn.f32.f64 %r0, %l1;", {bits(0.1)}, bits(0.1f)},
    {"cvt.rz.f32.f64 %r0, %l1;", {bits(0.1)}, bits(0.1f) - 1},
    {"cvt.f32.f16 %r0, %h1;", {0x3555}, bits(0.33325195f)},
    {"cvt.rn.f16.f32 %h0, %r1;", {bits(1.0f / 3)}, 0x3555},
    {"cvt.rn.f16.f32 %h0, %r1;", {bits(65520.0f)}, 0x7c00},
    {"cvt.rz.f16.f32 %h0, %r1;", {bits(65535.0f)}, 0x7bff},
    {"cvt.rn.f16.f32 %h0, %r1;", {bits(1e-7f)}, 0x0002},        // subnormal
    {"cvt.rn.bf16.f32 %h0, %r1;", {bits(1.00390625f)}, 0x3f80}, // to even
    {"cvt.rn.bf16.f32 %h0, %r1;", {bits(1.01171875f)}, 0x3f82},
    {"cvt.rn.bf16.f32 %h0, %r1;", {kSomeNan}, 0x7fff},
    {"cvt.rz.bf16.f32 %h0, %r1;", {bits(1.01171875f)}, 0x3f81},
    {"cvt.f32.bf16 %r0, %h1;", {0x3f81}, 0x3f810000},
    {"cvt.rn.bf16x2.f32 %r0, %r1, %r2;", {bits(2.0f), bits(1.0f)}, 0x40003f80},
    {"cvt.rn.bf16x2.f32 %r0, %r1, %r2;", {bits(1.00390625f), bits(1.01171875f)}, 0x3f803f82},
    {"cvt.rn.bf16x2.f32 %r0, %r1, %r2;", {kSomeNan, bits(-3.4e38f)}, 0x7fffff80},
    {"cvt.rn.f16x2.f32 %r0, %r1, %r2;", {bits(2.0f), bits(1.0f)}, 0x40003c00},
    {"cvt.rn.f16.s32 %h0, %r1;", {uint32_t(-2)}, 0xc000},
};

const Case kMoves[] = {
    {"mov.b32 %r0, %r1;", {7}, 7},
    {"mov.b32 %r0, 0f3F800000;", {}, bits(1.0f)},
    {"mov.b64 %l0, 0d3FF8000000000000;", {}, bits(1.5)},
    {"mov.b64 %l0, -1;", {}, kMinus},
    {"mov.b16 %h0, 0x3C00;", {}, 0x3c00},
    {"mov.pred %p0, %p1;", {1}, 1},
    {"mov.pred %p0, -1;", {}, 1},
    {"mov.pred %p0, 0;", {}, 0},
    {"mov.b32 %r0, {%h1, %h2};", {0x1111, 0x2222}, 0x22221111},
    {"mov.b64 %l0, {%r1, %r2};", {1, 2}, 0x200000001},
    {"mov.b64 %l0, {%h1, %h2, %h3, %h4};", {1, 2, 3, 4}, 0x0004000300020001},
    {"mov.b32 {%h5, %h0}, %r1;", {0x22221111}, 0x2222},
    {"mov.b64 {%r0, %r5}, %l1;", {0x200000001}, 1},
    {"{ .reg .b16 tmp; mov.b32 {tmp, %h0}, %r1; }", {0x22221111}, 0x2222},
    {"mov.b32 {_, %h0}, %r1;", {0x22221111}, 0x2222},
    {"selp.b32 %r0, %r1, %r2, %p1;", {1, 2}, 1},
    {"selp.f32 %r0, 0f3F800000, %r2, %p3;", {1, 2, 0}, 2},
    {"selp.b64 %l0, %l1, %l2, %p1;", {5, 6}, 5},
    {"selp.b16 %h0, 1, 0, %p1;", {1}, 1},
    {"mov.u32 %r0, %laneid;", {}, 0},
    {"mov.u32 %r0, %ntid.x;", {}, 1},
    {"mov.u32 %r0, %nctaid.x;", {}, 1},
    {"mov.u32 %r0, %tid.y;", {}, 0},
};

const Case kComparisons[] = {
    {"setp.lt.s32 %p0, %r1, %r2;", {0xffffffff, 1}, 1},
    {"setp.lt.u32 %p0, %r1, %r2;", {0xffffffff, 1}, 0},
    {"setp.ge.u64 %p0, %l1, %l2;", {kMinus, 1}, 1},
    {"setp.gt.s64 %p0, %l1, %l2;", {kMinus, 1}, 0},
    {"setp.le.s16 %p0, %h1, %h2;", {0xffff, 1}, 1},
    {"setp.eq.b32 %p0, %r1, %r2;", {3, 3}, 1},
    {"setp.ne.b64 %p0, %l1, 4;", {3}, 1},
    {"setp.hi.u32 %p0, %r1, %r2;", {4, 3}, 1},
    {"setp.ls.u32 %p0, %r1, %r2;", {4, 3}, 0},
    {"setp.lt.f32 %p0, %r1, %r2;", {kSomeNan, 0}, 0},
    {"setp.ltu.f32 %p0, %r1, %r2;", {kSomeNan, 0}, 1},
    {"setp.neu.f32 %p0, %r1, %r2;", {kSomeNan, kSomeNan}, 1},
    {"setp.ne.f32 %p0, %r1, %r2;", {kSomeNan, kSomeNan}, 0},
    {"setp.nan.f32 %p0, %r1, %r2;", {0, kSomeNan}, 1},
    {"setp.num.f32 %p0, %r1, %r2;", {0, 0}, 1},
    {"setp.eq.f32 %p0, %r1, %r2;", {0, 0x80000000}, 1},
    {"setp.geu.f64 %p0, %l1, %l2;", {bits(1.0), bits(2.0)}, 0},
    {"setp.gt.f16 %p0, %h1, %h2;", {0x3c00, 0xbc00}, 1},
    {"setp.gt.f16x2 %p0|%p5, %r1, %r2;", {0x3c004000, 0x3c003c00}, 1},
    {"setp.gt.f16x2 %p5|%p0, %r1, %r2;", {0x3c004000, 0x3c003c00}, 0},
    {"setp.lt.and.s32 %p0, %r1, %r2, %p3;", {1, 2, 0}, 0},
    {"setp.lt.or.s32 %p0, %r1, %r2, %p3;", {2, 1, 1}, 1},
    {"setp.lt.xor.s32 %p0, %r1, %r2, %p3;", {1, 2, 1}, 0},
    {"setp.lt.and.s32 %p0, %r1, %r2, !%p3;", {1, 2, 0}, 1},
    {"setp.lt.s32 %p4|%p5, %r1, %r2;\nmov.pred %p0, %p5;", {2, 1}, 1},
    {"testp.infinite.f32 %p0, %r1;", {kInfinity | 0x80000000}, 1},
    {"testp.finite.f32 %p0, %r1;", {kInfinity}, 0},
    {"testp.notanumber.f32 %p0, %r1;", {kSomeNan}, 1},
    {"testp.number.f64 %p0, %l1;", {bits(1.0)}, 1},
    {"testp.normal.f32 %p0, %r1;", {1}, 0},
    {"testp.subnormal.f32 %p0, %r1;", {1}, 1},
    {"set.lt.u32.s32 %r0, %r1, %r2;", {1, 2}, 0xffffffff},
    {"set.gt.f32.f32 %r0, %r1, %r2;", {bits(2.0f), bits(1.0f)}, bits(1.0f)},
};

/// The register that the lines set, such as 'r'.
char resultOf(const std::string &code) {
  for (size_t at = 0; (at = code.find('%', at)) != std::string::npos; ++at)
    if (code.compare(at + 2, 1, "0") == 0 && !std::isalnum(code[at + 3]))
      return code[at + 1];
  ADD_FAILURE() << "no result in " << code;
  return 'r';
}

std::string codeOf(const Case &test, const std::string &name = "k") {
  std::string code;
  auto line = [&](const std::string &text) { code += text + "\n"; };
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    line("mov.b64 %l" + number + ", " + std::to_string(int64_t(test.inputs[i])) + ";");
    line("cvt.u32.u64 %r" + number + ", %l" + number + ";");
    line("cvt.u16.u64 %h" + number + ", %l" + number + ";");
    line("setp.ne.b64 %p" + number + ", %l" + number + ", 0;");
  }
  line(test.code);
  switch (resultOf(test.code)) {
  case 'p':
    line("selp.b64 %l0, 1, 0, %p0;");
    break;
  case 'h':
    line("cvt.u64.u16 %l0, %h0;");
    break;
  case 'r':
    line("cvt.u64.u32 %l0, %r0;");
    break;
  }
  line("st.global.b64 [%l30], %l0;");
  return entryOf(code, name);
}

class Opcodes : public testing::TestWithParam<Case> {};

TEST_P(Opcodes, GiveTheSpecifiedResult) {
  Machine machine(codeOf(GetParam()));
  machine.launch({1, 1});
  EXPECT_EQ(machine.result(0), GetParam().expected)
      << GetParam().code << std::hex << " gives " << machine.result(0);
}

INSTANTIATE_TEST_SUITE_P(Integers, Opcodes, testing::ValuesIn(kIntegers));
INSTANTIATE_TEST_SUITE_P(Bits, Opcodes, testing::ValuesIn(kBits));
INSTANTIATE_TEST_SUITE_P(Floats, Opcodes, testing::ValuesIn(kFloats));
INSTANTIATE_TEST_SUITE_P(Conversions, Opcodes, testing::ValuesIn(kConversions));
INSTANTIATE_TEST_SUITE_P(Moves, Opcodes, testing::ValuesIn(kMoves));
INSTANTIATE_TEST_SUITE_P(Comparisons, Opcodes, testing::ValuesIn(kComparisons));

#ifdef ZERO_PTXAS
TEST(OpcodeCases, AreTakenByTheAssembler) {
  const std::string path = testing::TempDir() + "zero-cases-" + std::to_string(::getpid()) + ".ptx";
  std::ofstream file(path);
  file << kHeader;
  int count = 0;
  for (std::span<const Case> cases : std::initializer_list<std::span<const Case>>{
           kIntegers, kBits, kFloats, kConversions, kMoves, kComparisons})
    for (const Case &each : cases)
      file << codeOf(each, "k" + std::to_string(count++));
  file.close();
  const std::string command = std::string(ZERO_PTXAS) + " -arch=sm_90 -o /dev/null " + path;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  ::unlink(path.c_str());
}
#endif

} // namespace
