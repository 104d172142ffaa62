//===- MatmulMatcher.cpp - kernels that are one matrix product ------------===//
//
// From the result backwards: views, a residual, a bias, a factor, views, the contraction.
// Every tensor becomes a strided view of an argument, so that a loop of the
// contraction is a size and one stride for each of A, B, C and the bias; which of
// m, n, k or batch it is follows from the strides that are zero.
//
//===----------------------------------------------------------------------===//

#include "MatmulMatcher.h"
#include "LoopSchedule.h"
#include "StridedView.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace zero {
namespace {

/// A loop of the contraction: how far one iteration moves in each tensor.
struct Loop {
  int64_t size, a, b, c, bias;

  /// Whether this loop and `inner` inside it are one loop over both.
  bool continues(const Loop &inner) const {
    return a == inner.a * inner.size && b == inner.b * inner.size && c == inner.c * inner.size &&
           bias == inner.bias * inner.size;
  }
};

class Matcher {
public:
  explicit Matcher(func::FuncOp kernel) : kernel(kernel) {}
  std::optional<MatchedMatmul> run();

private:
  bool walkToContraction();
  bool matchElementwise(linalg::GenericOp generic);
  bool takeFactor(Value scale);
  bool takeSummand(OpOperand *operand, AffineMap map);
  bool collectLoops(linalg::LinalgOp contraction);
  std::optional<MatchedMatmul> assemble();

  func::FuncOp kernel;
  Value value;                    ///< walks from the result to the contraction
  SmallVector<StridedView> views; ///< of `value` in C and in the bias
  BlockArgument bias, residual, lhs, rhs;
  float alpha = 1;
  SmallVector<Loop> m, n, k, batch;
};

} // namespace

static bool isF32(Value value) { return getElementTypeOrSelf(value).isF32(); }

/// Whether the library can read or write `value`. It computes in f32.
static bool isStorable(Value value) {
  return isF32(value) || isa<Float16Type, BFloat16Type>(getElementTypeOrSelf(value));
}

/// The constant that `value` is, as a scalar or as a tensor of equal elements.
static std::optional<float> constantOf(Value value) {
  FloatAttr number;
  DenseFPElementsAttr elements;
  if (matchPattern(value, m_Constant(&number)))
    return number.getValue().convertToFloat();
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
      elements.getElementType().isF32())
    return elements.getSplatValue<APFloat>().convertToFloat();
  return std::nullopt;
}

/// Accepts `x + bias` with a bias along one dimension, `x + residual` with a residual that has the
/// layout of the result, and `x * constant`.
bool Matcher::matchElementwise(linalg::GenericOp generic) {
  if (generic.getNumReductionLoops() != 0 || generic.getNumDpsInits() != 1)
    return false;
  Block *body = generic.getBody();
  Operation *op = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!op || op->getBlock() != body || !isa<arith::AddFOp, arith::MulFOp>(op))
    return false;
  bool adds = isa<arith::AddFOp>(op);
  for (unsigned side : {0u, 1u}) {
    auto argument = dyn_cast<BlockArgument>(op->getOperand(side));
    if (!argument || argument.getArgNumber() >= generic.getNumDpsInputs())
      continue;
    OpOperand *input = generic.getMatchingOpOperand(argument);
    AffineMap read = generic.getMatchingIndexingMap(input);
    AffineMap written = generic.getIndexingMapsArray().back();
    if (!read.isIdentity() || !written.isIdentity() || viewOfArgument(input->get()))
      continue;
    Value other = op->getOperand(1 - side);
    auto otherArgument = dyn_cast<BlockArgument>(other);
    bool isInner = otherArgument && otherArgument.getOwner() == body;
    OpOperand *operand = isInner ? generic.getMatchingOpOperand(otherArgument) : nullptr;
    bool matched = adds ? operand && takeSummand(operand, generic.getMatchingIndexingMap(operand))
                        : takeFactor(operand ? operand->get() : other);
    if (matched)
      value = input->get();
    return matched;
  }
  return false;
}

bool Matcher::takeFactor(Value scale) {
  auto factor = constantOf(scale);
  if (!factor)
    return false;
  alpha *= *factor;
  return true;
}

bool Matcher::takeSummand(OpOperand *operand, AffineMap map) {
  auto from = viewOfArgument(operand->get());
  auto strides = from ? loopStrides(map, from->view) : std::nullopt;
  // A factor found already, which comes later, would scale the summand, too; a bias, the
  // library adds first.
  if (!strides || bias || alpha != 1)
    return false;
  if (!residual && *strides == views[0].strides) {
    residual = from->argument;
    return true;
  }
  bias = from->argument;
  views[1].strides = *strides;
  return true;
}

bool Matcher::walkToContraction() {
  while (true) {
    if (!value.hasOneUse() || isa<BlockArgument>(value))
      return false;
    if (auto op = value.getDefiningOp<linalg::LinalgOp>();
        op && linalg::isaContractionOpInterface(op))
      return true;
    if (stepToSource(value, views))
      continue;
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    if (!generic || !matchElementwise(generic))
      return false;
  }
}

bool Matcher::collectLoops(linalg::LinalgOp contraction) {
  auto a = viewOfArgument(contraction.getDpsInputs()[0]);
  auto b = viewOfArgument(contraction.getDpsInputs()[1]);
  Value init = contraction.getDpsInits()[0];
  Value start = fillScalar(init);
  if (!a || !b || constantOf(start ? start : init) != 0.0f)
    return false;
  lhs = a->argument;
  rhs = b->argument;
  auto maps = contraction.getIndexingMapsArray();
  auto inA = loopStrides(maps[0], a->view), inB = loopStrides(maps[1], b->view);
  auto inC = loopStrides(maps[2], views[0]), inBias = loopStrides(maps[2], views[1]);
  if (!inA || !inB || !inC || !inBias)
    return false;
  for (auto [dim, size] : llvm::enumerate(contraction.getStaticLoopRanges())) {
    Loop loop{size, (*inA)[dim], (*inB)[dim], (*inC)[dim], (*inBias)[dim]};
    if (size == 1)
      continue;
    bool reduces = contraction.getIteratorTypesArray()[dim] == utils::IteratorType::reduction;
    auto &kind = reduces ? k : loop.b == 0 ? m : loop.a == 0 ? n : batch;
    kind.push_back(loop);
  }
  return true;
}

/// Joins loops that are one, as often as possible; the largest one comes last.
static void merge(SmallVectorImpl<Loop> &loops) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t outer = 0; outer < loops.size() && !changed; ++outer)
      for (size_t inner = 0; inner < loops.size() && !changed; ++inner) {
        if (outer == inner || !loops[outer].continues(loops[inner]))
          continue;
        loops[inner].size *= loops[outer].size;
        loops.erase(loops.begin() + outer);
        changed = true;
      }
  }
  llvm::sort(loops, [](const Loop &a, const Loop &b) {
    return std::tie(a.size, a.c, a.a) < std::tie(b.size, b.c, b.a);
  });
}

std::optional<MatchedMatmul> Matcher::assemble() {
  for (auto *loops : {&m, &n, &k})
    merge(*loops);
  if (k.size() > 1)
    return std::nullopt;
  Loop depth = k.empty() ? Loop{1, 1, 1, 0, 0} : k.back();
  // Of several loops over rows or columns, the largest is m or n.
  Loop column = n.empty() ? Loop{1, 0, 1, 1, 1} : n.pop_back_val();
  Loop row =
      m.empty() ? Loop{1, depth.a * depth.size, 0, column.c * column.size, 0} : m.pop_back_val();
  batch.append(m);
  batch.append(n);
  merge(batch);
  llvm::sort(batch, [](const Loop &a, const Loop &b) { return a.c > b.c; });
  bool biasAlongN = column.bias == 1 && row.bias == 0 &&
                    llvm::all_of(batch, [](const Loop &loop) { return loop.bias == 0; });
  if (bias && !biasAlongN)
    return std::nullopt;

  MatchedMatmul matched;
  Matmul &result = matched.matmul;
  result.m = row.size;
  result.n = column.size;
  result.k = depth.size;
  for (const Loop &loop : batch) {
    result.batch.push_back(loop.size);
    result.aStrides.push_back(loop.a);
    result.bStrides.push_back(loop.b);
    result.cStrides.push_back(loop.c);
  }
  result.aStrides.append({row.a, depth.a});
  result.bStrides.append({depth.b, column.b});
  result.cStrides.append({row.c, column.c});
  result.alpha = alpha;
  result.bias = bool(bias);
  matched.arguments = {lhs.getArgNumber(), rhs.getArgNumber()};
  for (BlockArgument summand : {bias, residual})
    if (summand)
      matched.arguments.push_back(summand.getArgNumber());
  // The residual is the previous content of C if it uses C's buffer.
  bool inPlace = residual && kernel.getArgAttr(residual.getArgNumber(), kInplaceAttr);
  result.accumulate = inPlace;
  result.residual = residual && !inPlace;
  return matched;
}

bool Matmul::reordersB() const {
  auto isDense = [](ArrayRef<int64_t> strides, int64_t rows, int64_t columns) {
    return strides == ArrayRef<int64_t>{columns, 1} || strides == ArrayRef<int64_t>{1, rows};
  };
  if (!batch.empty() || !isDense(aStrides, m, k) || bStrides != ArrayRef<int64_t>{n, 1} ||
      cStrides != ArrayRef<int64_t>{n, 1})
    return false;
  constexpr int64_t kNarrow = 256, kDeep = 2048;
  constexpr int64_t kLargest = int64_t(16) << 20; // bytes: the copy is memory of the step
  if (n < kNarrow || k * n * int64_t(sizeof(float)) > kLargest)
    return false;
  // oneDNN 2.6 itself copies rows of these lengths for each 256 rows of A, never rows of other
  // lengths, and is slow if B is deep.
  const bool isCopied = n > kNarrow && llvm::isPowerOf2_64(n);
  return isCopied ? m >= 1024 : m >= 512 && k >= kDeep;
}

bool Matmul::isBatchInnermost() const {
  auto isInterleaved = [&](ArrayRef<int64_t> strides, int64_t rows, int64_t columns) {
    const bool isContiguous = (rows > 1 && strides.end()[-2] == 1) ||
                              (columns > 1 && strides.back() == 1) || rows * columns == 1;
    return !isContiguous && llvm::is_contained(strides.drop_back(2), 1);
  };
  return isInterleaved(aStrides, m, k) || isInterleaved(bStrides, k, n) ||
         isInterleaved(cStrides, m, n);
}

std::optional<MatchedMatmul> Matcher::run() {
  auto end = kernel.getBody().front().getTerminator();
  if (end->getNumOperands() != 1)
    return std::nullopt;
  value = end->getOperand(0);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !isStorable(value))
    return std::nullopt;
  StridedView nowhere = StridedView::rowMajor(type.getShape());
  llvm::fill(nowhere.strides, 0);
  views = {StridedView::rowMajor(type.getShape()), nowhere};
  if (!walkToContraction())
    return std::nullopt;
  auto contraction = value.getDefiningOp<linalg::LinalgOp>();
  if (!llvm::all_of(contraction->getOperands(), isF32) || !collectLoops(contraction) ||
      !isStorable(lhs) || !isStorable(rhs) || (bias && !isStorable(bias)) ||
      (residual && getElementTypeOrSelf(residual) != type.getElementType()))
    return std::nullopt;
  return assemble();
}

std::optional<MatchedMatmul> matchMatmul(func::FuncOp kernel) { return Matcher(kernel).run(); }

} // namespace zero
