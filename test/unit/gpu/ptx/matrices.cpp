//===- matrices.cpp - mma and ldmatrix ------------------------------------===//
//
// A fragment is a matrix of 8 x 8 elements of 16 bits in one register of each thread: thread t has
// elements 2 (t % 4) and 2 (t % 4) + 1 of row t / 4. So the registers of all threads, one behind
// the other, are the rows of the fragment.
//
//===----------------------------------------------------------------------===//

#include "lanes.h"

namespace ptx {

namespace {

constexpr uint32_t kSide = 8; ///< of a fragment

/// Both opcodes use the registers of all threads, also of those that would not run them.
void requireWholeWarp(const Warp &warp) {
  if (warp.active != kAllLanes)
    warp.fault(uint32_t(__builtin_ctz(~warp.active)),
               "does not take part in what all 32 threads of a warp must do");
}

/// Threads wait until all threads of the warp have come.
void meetAll(Decoding &decoding) {
  decoding.require("sync");
  decoding.require("aligned");
  decoding.made.flow = Instruction::Flow::Meet;
  decoding.made.c = decoding.registers.constant(kAllLanes, 4);
}

/// Sets `count` parts of the instruction, from `first` on, to the registers of a vector.
void setVector(Decoding &decoding, size_t index, size_t first, size_t count, Type type) {
  const Operand &vector = decoding.operand(index);
  if (vector.kind != Operand::Vector || vector.parts.size() != count)
    decoding.fail("expected a vector of " + std::to_string(count) + " registers");
  for (size_t i = 0; i < count; ++i)
    decoding.made.parts[first + i] = index == 0 ? decoding.destinationOf(vector.parts[i], type)
                                                : decoding.sourceOf(vector.parts[i], type);
}

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

constexpr uint32_t kRows = 16, kColumns = 8, kDepth = 16; ///< of m16n8k16
/// Where the registers of an instruction are in its parts.
enum Part : uint32_t { kD = 0, kA = 4, kB = 8, kC = 10 };

/// A has four fragments: rows 0 and 8 at k = 0, then both at k = 8. B has two, at k = 0 and k = 8;
/// their rows are columns of the matrix.
template <typename T>
struct Factors {
  const T *a[4], *b[2];
};

/// Adds a b to sums. Products of two 16-bit floats are exact in float32 (but for overflow and
/// underflow of bf16). They are added one by one, k from 0 to 15, to what is there, and each sum is
/// rounded to float32. PTX specifies neither order nor rounding of the sums: those of GPUs differ.
template <typename T>
[[gnu::always_inline]] inline void multiplyBy(const Factors<T> &from,
                                              float (&sums)[kRows][kColumns]) {
  float b[kDepth][kColumns];
  for (uint32_t k = 0; k < kDepth; ++k)
    for (uint32_t column = 0; column < kColumns; ++column)
      b[k][column] = float(from.b[k / kSide][column * kSide + k % kSide]);
  for (uint32_t row = 0; row < kRows; ++row) {
    float a[kDepth];
    for (uint32_t k = 0; k < kDepth; ++k)
      a[k] = float(from.a[row / kSide + k / kSide * 2][row % kSide * kSide + k % kSide]);
    for (uint32_t k = 0; k < kDepth; ++k)
      for (uint32_t column = 0; column < kColumns; ++column)
        sums[row][column] += a[k] * b[k][column];
  }
}

template <typename T>
void multiply(const Factors<T> &from, float (&sums)[kRows][kColumns]) {
  multiplyBy(from, sums);
}
#ifdef __x86_64__
/// With the processor's conversion instead of a function call for each float16.
template <typename T>
__attribute__((target("avx2,f16c"))) void fastMultiply(const Factors<T> &from,
                                                       float (&sums)[kRows][kColumns]) {
  multiplyBy(from, sums);
}
bool hasFastMultiply() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c"); }
#else
template <typename T>
constexpr auto fastMultiply = multiply<T>;
bool hasFastMultiply() { return false; }
#endif

/// Calls body(part, lane, row, column) for all elements of C and of D.
template <typename Body>
void forEachSum(Body body) {
  for (uint32_t part = 0; part < 4; ++part)
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      body(part, lane, part / 2 * kSide + lane / 4, lane % 4 * 2 + part % 2);
}

template <typename T, void (*Multiply)(const Factors<T> &, float (&)[kRows][kColumns])>
void multiplyMatrices(Warp &warp, const Instruction &instruction) {
  requireWholeWarp(warp);
  const uint32_t *parts = instruction.parts.data();
  Factors<T> from;
  for (uint32_t i = 0; i < 4; ++i)
    from.a[i] = warp.at<T>(parts[kA + i]);
  for (uint32_t i = 0; i < 2; ++i)
    from.b[i] = warp.at<T>(parts[kB + i]);
  float sums[kRows][kColumns];
  forEachSum([&](uint32_t part, uint32_t lane, uint32_t row, uint32_t column) {
    sums[row][column] = warp.at<float>(parts[kC + part])[lane];
  });
  Multiply(from, sums);
  forEachSum([&](uint32_t part, uint32_t lane, uint32_t row, uint32_t column) {
    warp.at<float>(parts[kD + part])[lane] = canonical(sums[row][column]);
  });
}

template <typename T>
Instruction::Run chooseMultiply() {
  return hasFastMultiply() ? multiplyMatrices<T, fastMultiply<T>>
                           : multiplyMatrices<T, multiply<T>>;
}

void decodeMultiply(Decoding &decoding) {
  meetAll(decoding);
  for (const char *modifier : {"m16n8k16", "row", "col"})
    decoding.require(modifier);
  const Type d = decoding.takeType(), a = decoding.takeType(), b = decoding.takeType(),
             c = decoding.takeType();
  const bool implemented = d == Type::F32 && c == Type::F32 && a == b;
  decoding.setRun(!implemented      ? nullptr
                  : a == Type::F16  ? chooseMultiply<Half>()
                  : a == Type::BF16 ? chooseMultiply<Brain>()
                                    : nullptr);
  decoding.expectOperands(4);
  setVector(decoding, 0, kD, 4, d);
  setVector(decoding, 1, kA, 4, Type::B32);
  setVector(decoding, 2, kB, 2, Type::B32);
  setVector(decoding, 3, kC, 4, c);
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

/// The first 8 threads have the addresses of the rows of the first fragment, the next 8 those of
/// the second one. In the checks of memory, a row is read by the thread that has its address.
template <typename Address, bool Transposes>
void loadMatrices(Warp &warp, const Instruction &instruction) {
  requireWholeWarp(warp);
  const auto *base = warp.at<Address>(instruction.a);
  uint16_t rows[4][kSide][kSide];
  for (uint32_t lane = 0; lane < instruction.count * kSide; ++lane) {
    const auto address = Address(base[lane] + Address(instruction.number));
    auto &row = rows[lane / kSide][lane % kSide];
    std::memcpy(row, warp.locate(instruction, address, lane, sizeof(row), nullptr), sizeof(row));
  }
  for (uint32_t i = 0; i < instruction.count; ++i) {
    auto *to = warp.at<uint32_t>(instruction.parts[i]);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const uint32_t row = lane / 4, column = lane % 4 * 2;
      const uint16_t low = Transposes ? rows[i][column][row] : rows[i][row][column],
                     high = Transposes ? rows[i][column + 1][row] : rows[i][row][column + 1];
      to[lane] = uint32_t(high) << 16 | low;
    }
  }
}

template <typename Address>
Instruction::Run chooseLoad(bool transposes) {
  return transposes ? loadMatrices<Address, true> : loadMatrices<Address, false>;
}

void decodeLoadMatrices(Decoding &decoding) {
  meetAll(decoding);
  for (const char *modifier : {"m8n8", "shared", "b16"})
    decoding.require(modifier);
  const bool transposes = decoding.take("trans");
  decoding.made.count = decoding.take("x4") ? 4 : decoding.take("x2") ? 2 : 1;
  if (decoding.made.count == 1)
    decoding.require("x1");
  decoding.expectOperands(2);
  setVector(decoding, 0, 0, decoding.made.count, Type::B32);
  const auto address = decoding.registers.typeOf(decoding.operand(1).name);
  const bool isShort = address && bytesOf(*address) == 4;
  decoding.setRun(isShort ? chooseLoad<uint32_t>(transposes) : chooseLoad<uint64_t>(transposes));
  decoding.address(1, Space::Shared, isShort ? Type::B32 : Type::B64);
}

} // namespace

void addMatrices(Opcodes &opcodes) {
  opcodes["mma"] = decodeMultiply;
  opcodes["ldmatrix"] = decodeLoadMatrices;
}

} // namespace ptx
