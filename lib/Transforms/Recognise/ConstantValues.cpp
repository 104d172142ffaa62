//===- ConstantValues.cpp - values of masks at compile time ---------------===//

#include "ConstantValues.h"
#include "Patterns.h"

#include "dialects/Onnx/Operators.h"
#include "zero/Ops/NodeBuilder.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace mlir;

namespace zero {

// Values up to this size are stored in full once they are computed.
static constexpr int64_t kWholeElements = 1 << 18;
// Limits of masks: the depth of nested nodes, the evaluations per element, and the number of
// elements. A value that exceeds a limit is treated as unknown.
static constexpr unsigned kMaxDepth = 64, kMaxCost = 64;
static constexpr int64_t kMaxElements = 1 << 28;

ConstantValues::ConstantValues(ModuleOp module, StringRef root) : module(module), root(root) {}

bool ConstantValues::isEverywhere(Value value, double number) {
  if (std::optional<double> splat = patterns::numberOf(value))
    return splat == number;
  if (!isKnown(value))
    return false;
  Row row(columnsOf(value));
  return llvm::all_of(llvm::seq(rowsOf(value)), [&](int64_t index) {
    readRow(value, index, row);
    return llvm::all_of(row, [&](double element) { return element == number; });
  });
}

int64_t ConstantValues::columnsOf(Value value) {
  RankedTensorType type = tensorType(value);
  return type.getRank() ? type.getShape().back() : 1;
}

int64_t ConstantValues::rowsOf(Value value) {
  int64_t columns = columnsOf(value);
  return columns ? tensorType(value).getNumElements() / columns : 0;
}

//===----------------------------------------------------------------------===//
// Elementwise nodes
//===----------------------------------------------------------------------===//

/// Computes one element of a node's result from those of its operands.
using ElementFn = double (*)(const double *);

static ElementFn elementOf(onnx::NodeOp node) {
  if (node->getNumResults() != 1)
    return nullptr;
  if (node.is(op::Cast)) {
    Type to = node.outputType(0).getElementType();
    if (to.isInteger(1))
      return [](const double *x) -> double { return x[0] != 0; };
    if (isa<IntegerType>(to))
      return [](const double *x) { return std::trunc(x[0]); };
    return to.isF32() ? [](const double *x) -> double { return float(x[0]); }
                      : (to.isF64() ? [](const double *x) { return x[0]; } : ElementFn());
  }
  bool isSmall = node.inputType(0).getElementType().isF32();
  const std::pair<onnx::Operator, ElementFn> functions[] = {
      {op::And, [](const double *x) -> double { return x[0] != 0 && x[1] != 0; }},
      {op::Or, [](const double *x) -> double { return x[0] != 0 || x[1] != 0; }},
      {op::Xor, [](const double *x) -> double { return (x[0] != 0) != (x[1] != 0); }},
      {op::Not, [](const double *x) -> double { return x[0] == 0; }},
      {op::Equal, [](const double *x) -> double { return x[0] == x[1]; }},
      {op::Less, [](const double *x) -> double { return x[0] < x[1]; }},
      {op::LessOrEqual, [](const double *x) -> double { return x[0] <= x[1]; }},
      {op::Greater, [](const double *x) -> double { return x[0] > x[1]; }},
      {op::GreaterOrEqual, [](const double *x) -> double { return x[0] >= x[1]; }},
      {op::Where, [](const double *x) { return x[0] != 0 ? x[1] : x[2]; }},
      {op::Neg, [](const double *x) { return -x[0]; }},
      {op::Sqrt,
       isSmall ? [](const double *x) -> double { return std::sqrt(float(x[0])); }
               : [](const double *x) { return std::sqrt(x[0]); }},
      {op::Add,
       isSmall ? [](const double *x) -> double { return float(x[0] + x[1]); }
               : [](const double *x) { return x[0] + x[1]; }},
      {op::Sub,
       isSmall ? [](const double *x) -> double { return float(x[0] - x[1]); }
               : [](const double *x) { return x[0] - x[1]; }},
      {op::Mul,
       isSmall ? [](const double *x) -> double { return float(x[0] * x[1]); }
               : [](const double *x) { return x[0] * x[1]; }},
      {op::Div,
       isSmall ? [](const double *x) -> double { return float(x[0] / x[1]); } : ElementFn()},
  };
  for (auto [type, function] : functions)
    if (node.is(type))
      return function;
  return nullptr;
}

static bool isReshape(onnx::NodeOp node) {
  return node.isAnyOf({op::Reshape, op::Unsqueeze, op::Squeeze, op::Flatten, op::Identity});
}

/// The operands of `node` whose elements make its result.
static ValueRange sources(onnx::NodeOp node) {
  return elementOf(node) ? ValueRange(node.getInputs()) : ValueRange(node.getInputs().take_front());
}

/// Whether `node` is one that `compute` understands.
static bool isUnderstood(onnx::NodeOp node) {
  if (elementOf(node) || isReshape(node) || node.is(op::Expand))
    return true;
  if (node.is(op::Trilu))
    return !node.hasInput(1) || matchPattern(node.getInputs()[1], m_Constant());
  return false;
}

//===----------------------------------------------------------------------===//
// Known values
//===----------------------------------------------------------------------===//

bool ConstantValues::isKnown(Value value) { return effortOf(value, kMaxDepth).cost != 0; }

ConstantValues::Effort ConstantValues::effortOf(Value value, unsigned depth) {
  if (auto it = efforts.find(value); it != efforts.end())
    return it->second;
  if (depth == 0)
    return {};
  Effort effort = decideEffort(value, depth);
  if (effort.depth > kMaxDepth || effort.cost > kMaxCost)
    effort = {};
  return efforts[value] = effort;
}

ConstantValues::Effort ConstantValues::decideEffort(Value value, unsigned depth) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!type || !op || !type.getElementType().isIntOrFloat() || type.getNumElements() > kMaxElements)
    return {};
  DenseElementsAttr elements;
  if (matchPattern(op, m_Constant(&elements)))
    return {1, 1};
  if (auto read = dyn_cast<ReadOp>(op))
    return openData(read) ? Effort{1, 1} : Effort();
  auto node = dyn_cast<onnx::NodeOp>(op);
  if (!node || !isUnderstood(node))
    return {};
  Effort sum{1, 1};
  for (Value input : sources(node)) {
    Effort effort = effortOf(input, depth - 1);
    if (effort.cost == 0)
      return {};
    sum.depth = std::max(sum.depth, effort.depth + 1);
    sum.cost += effort.cost;
  }
  // A value that is stored in full is computed once, for any number of reads.
  return {sum.depth, type.getNumElements() <= kWholeElements ? 1 : sum.cost};
}

/// The type of the elements in the file of `state`.
static Type storedType(StateOp state) {
  std::optional<DataAttr> reference = state.getData();
  return reference && reference->getStored() ? reference->getStored()
                                             : state.getTensorType().getElementType();
}

/// Bytes of one element in a file; 0: not read here.
static unsigned storedBytes(Type type) {
  if (type.isInteger(1) || type.isInteger(8))
    return 1;
  if (type.isF16() || type.isBF16())
    return 2;
  return type.isF32() || type.isInteger(32) ? 4 : (type.isF64() || type.isInteger(64) ? 8 : 0);
}

bool ConstantValues::openData(ReadOp read) {
  auto state = module.lookupSymbol<StateOp>(read.getSymbol());
  if (!state || state.getRole() != Role::Constant)
    return false;
  if (state.getSplat())
    return true;
  RankedTensorType type = state.getTensorType();
  std::optional<DataAttr> reference = state.getData();
  unsigned size = storedBytes(storedType(state));
  if (!reference || size == 0 || reference->getBytes() != uint64_t(type.getNumElements()) * size)
    return false;
  SmallString<128> path(root);
  llvm::sys::path::append(path, reference->getFile());
  auto file = llvm::MemoryBuffer::getFileSlice(path, reference->getBytes(), reference->getOffset());
  if (!file) {
    emitWarning(state.getLoc()) << "mask '" << state.getSymName() << "' is not inspected: '" << path
                                << "': " << file.getError().message();
    return false;
  }
  if ((*file)->getBufferSize() != reference->getBytes())
    return false;
  data[read.getResult()] = std::move(*file);
  return true;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static double storedElement(const char *at, Type type) {
  using namespace llvm::support;
  if (type.isInteger(1))
    return *at != 0;
  if (type.isInteger(8))
    return type.isUnsignedInteger() ? double(uint8_t(*at)) : double(int8_t(*at));
  if (type.isInteger(32))
    return type.isUnsignedInteger() ? double(endian::read32le(at)) : int32_t(endian::read32le(at));
  if (type.isInteger(64))
    return double(int64_t(endian::read64le(at)));
  if (type.isBF16())
    return llvm::bit_cast<float>(uint32_t(endian::read16le(at)) << 16);
  if (type.isF16())
    return APFloat(APFloat::IEEEhalf(), APInt(16, endian::read16le(at))).convertToDouble();
  return type.isF32() ? double(llvm::bit_cast<float>(endian::read32le(at)))
                      : llvm::bit_cast<double>(endian::read64le(at));
}

void ConstantValues::readData(ReadOp read, int64_t index, MutableArrayRef<double> row) {
  auto state = module.lookupSymbol<StateOp>(read.getSymbol());
  if (auto splat = state.getSplat())
    return llvm::fill(row, splat->convertToDouble());
  Type type = storedType(state);
  unsigned size = storedBytes(type);
  const char *at = data[read.getResult()]->getBufferStart() + index * row.size() * size;
  for (double &element : row) {
    element = storedElement(at, type);
    at += size;
  }
}

/// All elements of a constant of the IR.
static void readElements(DenseElementsAttr elements, SmallVectorImpl<double> &values) {
  if (isa<FloatType>(elements.getElementType())) {
    for (APFloat value : elements.getValues<APFloat>()) {
      bool lossy;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
      values.push_back(value.convertToDouble());
    }
    return;
  }
  bool isBool = elements.getElementType().isInteger(1);
  for (APInt value : elements.getValues<APInt>())
    values.push_back(isBool ? double(value.getZExtValue()) : double(value.getSExtValue()));
}

const ConstantValues::Row &ConstantValues::whole(Value value) {
  auto it = wholes.find(value);
  if (it != wholes.end())
    return it->second;
  Row values;
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements))) {
    readElements(elements, values);
  } else {
    int64_t columns = columnsOf(value);
    values.resize(tensorType(value).getNumElements());
    for (int64_t index = 0, rows = rowsOf(value); index < rows; ++index)
      compute(value, index, MutableArrayRef(values).slice(index * columns, columns));
  }
  return wholes[value] = std::move(values);
}

void ConstantValues::readRow(Value value, int64_t index, MutableArrayRef<double> row) {
  bool isConstant = matchPattern(value, m_Constant());
  if (!isConstant && tensorType(value).getNumElements() > kWholeElements)
    return compute(value, index, row);
  llvm::copy(ArrayRef(whole(value)).slice(index * row.size(), row.size()), row.begin());
}

void ConstantValues::readFlat(Value value, int64_t start, MutableArrayRef<double> elements) {
  int64_t columns = columnsOf(value);
  Row row(columns);
  for (int64_t done = 0, count = elements.size(); done < count;) {
    int64_t index = (start + done) / columns, within = (start + done) % columns;
    int64_t taken = std::min(columns - within, count - done);
    readRow(value, index, row);
    llvm::copy(ArrayRef(row).slice(within, taken), elements.begin() + done);
    done += taken;
  }
}

void ConstantValues::readBroadcast(Value value, RankedTensorType to, int64_t index,
                                   MutableArrayRef<double> row) {
  ArrayRef<int64_t> from = tensorType(value).getShape(), shape = to.getShape();
  int64_t source = 0, stride = 1;
  // The row's place among the leading dimensions, read backwards.
  for (int64_t dim = int64_t(shape.size()) - 2, own = int64_t(from.size()) - 2; dim >= 0;
       --dim, --own) {
    int64_t position = index % shape[dim];
    index /= shape[dim];
    if (own < 0)
      continue;
    source += from[own] == 1 ? 0 : position * stride;
    stride *= from[own];
  }
  Row own(columnsOf(value));
  readRow(value, source, own);
  for (auto [column, element] : llvm::enumerate(row))
    element = own[own.size() == 1 ? 0 : column];
}

void ConstantValues::computeBroadcast(onnx::NodeOp node, int64_t index,
                                      MutableArrayRef<double> row) {
  ElementFn element = elementOf(node);
  SmallVector<Row, 3> operands;
  for (Value input : node.getInputs()) {
    operands.emplace_back(row.size());
    readBroadcast(input, node.outputType(0), index, operands.back());
  }
  SmallVector<double, 3> elements(operands.size());
  for (size_t column = 0; column < row.size(); ++column) {
    for (auto [value, operand] : llvm::zip_equal(elements, operands))
      value = operand[column];
    row[column] = element(elements.data());
  }
}

/// Clears the elements of row `index` that Trilu clears.
static void keepTriangle(onnx::NodeOp node, int64_t index, int64_t diagonal,
                         MutableArrayRef<double> row) {
  int64_t query = index % node.outputType(0).getShape().drop_back().back();
  bool upper = node.getInt("upper", 1);
  for (auto [column, element] : llvm::enumerate(row)) {
    int64_t distance = int64_t(column) - query;
    if (upper ? distance < diagonal : distance > diagonal)
      element = 0;
  }
}

void ConstantValues::compute(Value value, int64_t index, MutableArrayRef<double> row) {
  if (auto read = value.getDefiningOp<ReadOp>())
    return readData(read, index, row);
  auto node = value.getDefiningOp<onnx::NodeOp>();
  if (elementOf(node))
    return computeBroadcast(node, index, row);
  Value input = node.getInputs().front();
  if (isReshape(node))
    return readFlat(input, index * row.size(), row);
  readBroadcast(input, node.outputType(0), index, row);
  if (node.is(op::Trilu))
    keepTriangle(node, index, node.hasInput(1) ? int64_t(whole(node.getInputs()[1])[0]) : 0, row);
}

} // namespace zero
