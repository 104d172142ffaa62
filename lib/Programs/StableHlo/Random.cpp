//===- Random.cpp - random bits -------------------------------------------===//
//
// rng_bit_generator with the bits that XLA gives on CPUs: Threefry-2x32 of 20 rounds and
// Philox-4x32 of 10 rounds (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011). The
// state is a key and a counter of 64 bits each, for Philox also a counter of 128 bits. The counter
// of 64 bits has the key as its upper half. The default algorithm is Philox.
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

namespace {
/// Nodes on unsigned integers.
class Words {
public:
  explicit Words(Emitter &b)
      : b(b), u32(IntegerType::get(b.getBuilder().getContext(), 32, IntegerType::Unsigned)),
        u64(IntegerType::get(b.getBuilder().getContext(), 64, IntegerType::Unsigned)) {}

  Value number(uint64_t value, Type type) {
    return b.integers(RankedTensorType::get({}, type), int64_t(value));
  }
  Value shift(Value x, unsigned distance, bool left) {
    return b.one(op::BitShift, x.getType(), {x, number(distance, elementOf(x))},
                 b.attr("direction", StringRef(left ? "LEFT" : "RIGHT")));
  }
  Value low(Value wide) { return b.cast(wide, u32); }
  Value high(Value wide) { return b.cast(shift(wide, 32, false), u32); }
  Value join(Value low, Value high) {
    return b.binary(op::BitwiseOr, b.cast(low, u64), shift(b.cast(high, u64), 32, true));
  }
  Value exclusiveOr(Value x, Value y) { return b.binary(op::BitwiseXor, x, y); }
  Value rotate(Value x, unsigned distance) {
    return b.binary(op::BitwiseOr, shift(x, distance, true), shift(x, 32 - distance, false));
  }

  Emitter &b;
  Type u32, u64;
};

/// Random bits and the next counter.
struct Bits {
  Value value, counter;
};
} // namespace

//===----------------------------------------------------------------------===//
// Threefry
//===----------------------------------------------------------------------===//

static std::pair<Value, Value> threefry(Words &w, Value x, Value y, Value key0, Value key1) {
  constexpr unsigned rotations[] = {13, 15, 26, 6, 17, 29, 16, 24};
  Value parity = w.number(0x1BD11BDA, w.u32);
  Value keys[] = {key0, key1, w.exclusiveOr(w.exclusiveOr(parity, key0), key1)};
  x = w.b.add(x, key0);
  y = w.b.add(y, key1);
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned round = 0; round < 4; ++round) {
      x = w.b.add(x, y);
      y = w.exclusiveOr(w.rotate(y, rotations[group % 2 * 4 + round]), x);
    }
    x = w.b.add(x, keys[(group + 1) % 3]);
    y = w.b.add(w.b.add(y, keys[(group + 2) % 3]), w.number(group + 1, w.u32));
  }
  return {x, y};
}

/// `counter` plus the index of each of `count` elements.
static Value counters(Words &w, Value counter, int64_t count) {
  return w.b.add(counter, w.b.cast(w.b.iota(count, 0), w.u64));
}

static Bits threefry64(Words &w, Value key, Value counter, ArrayRef<int64_t> shape) {
  const int64_t count = productOf(shape);
  Value inputs = counters(w, counter, count);
  auto [x, y] = threefry(w, w.low(inputs), w.high(inputs), w.low(key), w.high(key));
  return {w.b.reshape(w.join(x, y), shape), w.b.add(counter, w.number(count, w.u64))};
}

/// The dimension that is split into pairs, which one input gives: the first even one, else the
/// largest.
static int64_t pairedDim(ArrayRef<int64_t> shape) {
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size % 2 == 0)
      return dim;
  return llvm::max_element(shape) - shape.begin();
}

static Bits threefry32(Words &w, Value key, Value counter, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> dims(shape);
  if (dims.empty())
    dims.push_back(1);
  const int64_t dim = pairedDim(dims), size = dims[dim];
  SmallVector<int64_t> half = dims, rounded = dims;
  half[dim] = llvm::divideCeil(size, 2);
  rounded[dim] = 2 * half[dim];
  Bits pairs = threefry64(w, key, counter, half);
  half.insert(half.begin() + dim + 1, 1);
  Value both = w.b.concat(
      {w.b.reshape(w.low(pairs.value), half), w.b.reshape(w.high(pairs.value), half)}, dim + 1);
  Value numbers = w.b.sliceAxis(w.b.reshape(both, rounded), dim, 0, size);
  return {w.b.reshape(numbers, shape), pairs.counter};
}

//===----------------------------------------------------------------------===//
// Philox
//===----------------------------------------------------------------------===//

static SmallVector<Value> philox(Words &w, SmallVector<Value> x, Value key0, Value key1) {
  constexpr uint64_t factors[] = {0xD2511F53, 0xCD9E8D57}, steps[] = {0x9E3779B9, 0xBB67AE85};
  for (unsigned round = 0; round < 10; ++round) {
    Value first = w.b.mul(w.b.cast(x[0], w.u64), w.number(factors[0], w.u64));
    Value second = w.b.mul(w.b.cast(x[2], w.u64), w.number(factors[1], w.u64));
    x = {w.exclusiveOr(w.exclusiveOr(w.high(second), x[1]), key0), w.low(second),
         w.exclusiveOr(w.exclusiveOr(w.high(first), x[3]), key1), w.low(first)};
    key0 = w.b.add(key0, w.number(steps[0], w.u32));
    key1 = w.b.add(key1, w.number(steps[1], w.u32));
  }
  return x;
}

/// `count` words of 32 bits, and the next counter as [low, high].
static std::pair<Value, SmallVector<Value>> philoxWords(Words &w, Value key, Value low, Value high,
                                                        int64_t count) {
  const int64_t blocks = llvm::divideCeil(count, 4);
  auto sum = [&](Value more) -> SmallVector<Value> {
    Value next = w.b.add(low, more);
    Value carried = w.b.add(high, w.number(1, w.u64));
    return {next, w.b.where(w.b.binary(op::Less, next, low), carried, high)};
  };
  SmallVector<Value> at = sum(w.b.cast(w.b.iota(blocks, 0), w.u64));
  SmallVector<Value> words = philox(w, {w.low(at[0]), w.high(at[0]), w.low(at[1]), w.high(at[1])},
                                    w.low(key), w.high(key));
  for (Value &word : words)
    word = w.b.reshape(word, {blocks, 1});
  Value all = w.b.reshape(w.b.concat(words, 1), blocks * 4);
  return {w.b.sliceAxis(all, 0, 0, count), sum(w.number(blocks, w.u64))};
}

//===----------------------------------------------------------------------===//
// Rule
//===----------------------------------------------------------------------===//

/// Word `index` of the state as a scalar.
static Value stateWord(Words &w, Value state, int64_t index) {
  return w.b.reshape(w.b.sliceAxis(state, 0, index, index + 1), {});
}

static Bits threefryBits(Words &w, Value state, ArrayRef<int64_t> shape, unsigned width) {
  Value key = stateWord(w, state, 0), counter = stateWord(w, state, 1);
  return width == 64 ? threefry64(w, key, counter, shape) : threefry32(w, key, counter, shape);
}

/// Sets `next` to the words of the next counter.
static Value philoxBits(Words &w, Value state, ArrayRef<int64_t> shape, unsigned width,
                        SmallVectorImpl<Value> &next) {
  const bool isLong = shapeOf(state)[0] == 3;
  Value key = stateWord(w, state, 0), low = stateWord(w, state, 1);
  Value high = isLong ? stateWord(w, state, 2) : key;
  const int64_t count = productOf(shape) * (width == 64 ? 2 : 1);
  auto [words, counter] = philoxWords(w, key, low, high, count);
  next.assign(counter.begin(), counter.begin() + (isLong ? 2 : 1));
  if (width == 64) {
    Value pairs = w.b.reshape(words, {count / 2, 2});
    auto half = [&](int64_t index) {
      return w.b.reshape(w.b.sliceAxis(pairs, 1, index, index + 1), count / 2);
    };
    words = w.join(half(0), half(1));
  }
  return w.b.reshape(words, shape);
}

static LogicalResult rngBitGenerator(Operation *operation, Emitter &b,
                                     SmallVectorImpl<Value> &results) {
  auto op = cast<RngBitGeneratorOp>(operation);
  Value state = op.getInitialState();
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  Type element = type.getElementType();
  Words w(b);
  const bool isThreefry = op.getRngAlgorithm() == RngAlgorithm::THREE_FRY;
  ArrayRef<int64_t> stateShape = shapeOf(state);
  if (elementOf(state) != w.u64 || stateShape.size() != 1 || stateShape[0] < 2 ||
      stateShape[0] > (isThreefry ? 2 : 3) || productOf(type.getShape()) == 0 || isBool(element))
    return b.refuse("expected a state of two words of type ui64, or three for Philox");
  const unsigned width = element.getIntOrFloatBitWidth();
  SmallVector<Value> next{stateWord(w, state, 0)}, counter;
  Value bits;
  if (isThreefry) {
    Bits both = threefryBits(w, state, type.getShape(), width);
    bits = both.value;
    counter.push_back(both.counter);
  } else {
    bits = philoxBits(w, state, type.getShape(), width, counter);
  }
  next.append(counter);
  for (Value &word : next)
    word = b.reshape(word, 1);
  results.push_back(b.concat(next, 0));
  auto plain = IntegerType::get(op.getContext(), width, IntegerType::Unsigned);
  results.push_back(b.bitcast(b.cast(bits, plain), element));
  return success();
}

void addRandomRules(RuleTable &table) { table["stablehlo.rng_bit_generator"] = rngBitGenerator; }

} // namespace zero::hlo
