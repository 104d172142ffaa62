//===- ConstantValues.cpp - values of masks at compile time ---------------===//

#include "ConstantValues.h"
#include "Patterns.h"

#include "zero/Ops/Evaluate.h"
#include "zero/Ops/OpTable.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/Path.h"

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
  SmallVector<double, 0> row(columnsOf(value));
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

static evaluate::ElementType typeOf(Value value) {
  return *ops::elementTypeOf(tensorType(value).getElementType());
}

/// How `node` is evaluated, if its rows follow from rows of its operands; else null.
static const evaluate::Evaluator *evaluatorOf(onnx::NodeOp node) {
  const ops::OpDef *def = ops::lookup(node);
  return def && def->evaluator.isLocal() ? &def->evaluator : nullptr;
}

/// The operands of `node` whose elements make its result.
static ValueRange sources(onnx::NodeOp node) {
  ValueRange inputs = node.getInputs();
  unsigned count = std::min<size_t>(inputs.size(), evaluatorOf(node)->reads);
  while (count > 1 && !node.hasInput(count - 1))
    --count;
  return inputs.take_front(count);
}

/// Whether `node` is one that `compute` understands.
static bool isUnderstood(onnx::NodeOp node) {
  const evaluate::Evaluator *evaluator = evaluatorOf(node);
  if (!evaluator || node.getNumOperands() == 0)
    return false;
  auto type = dyn_cast<RankedTensorType>(node.getInputs()[0].getType());
  auto element = type ? ops::elementTypeOf(type.getElementType()) : std::nullopt;
  return element && evaluator->accepts(*element) && llvm::all_of(sources(node), [&](Value source) {
           auto from = dyn_cast<RankedTensorType>(source.getType());
           return from && (evaluator->same || evaluate::broadcastStrides(
                                                  from.getShape(), node.outputType(0).getShape()));
         });
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
  if (!type || !op || !ops::elementTypeOf(type.getElementType()) ||
      type.getNumElements() > kMaxElements)
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
  std::optional<evaluate::ElementType> element = ops::elementTypeOf(type);
  return element ? llvm::divideCeil(element->width, 8) : 0;
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

void ConstantValues::readData(ReadOp read, int64_t index, RowRef row) {
  auto state = module.lookupSymbol<StateOp>(read.getSymbol());
  const evaluate::ElementType type = typeOf(read.getResult());
  bool exact = true;
  if (auto splat = state.getSplat())
    return llvm::fill(row, evaluate::fromDouble(type, splat->convertToDouble(), exact));
  const evaluate::ElementType stored = *ops::elementTypeOf(storedType(state));
  const unsigned size = storedBytes(storedType(state));
  const char *at = data[read.getResult()]->getBufferStart() + index * row.size() * size;
  for (int64_t &element : row) {
    uint64_t bits = 0;
    std::memcpy(&bits, at, size);
    bits = stored.isBool() ? bits != 0 : bits;
    element = evaluate::convert(stored, type, evaluate::elementOfBits(stored, bits), exact);
    at += size;
  }
}

const ConstantValues::Row &ConstantValues::whole(Value value) {
  auto it = wholes.find(value);
  if (it != wholes.end())
    return it->second;
  Row values;
  const int64_t count = tensorType(value).getNumElements();
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements))) {
    values = ops::valuesOf(elements).elements;
    if (elements.isSplat())
      values.assign(count, values.front());
  } else {
    int64_t columns = columnsOf(value);
    values.resize(count);
    for (int64_t index = 0, rows = rowsOf(value); index < rows; ++index)
      compute(value, index, RowRef(values).slice(index * columns, columns));
  }
  return wholes[value] = std::move(values);
}

void ConstantValues::readRow(Value value, int64_t index, MutableArrayRef<double> row) {
  Row elements(row.size());
  read(value, index, elements);
  const evaluate::ElementType type = typeOf(value);
  for (auto [number, element] : llvm::zip_equal(row, elements))
    number = evaluate::toDouble(type, element);
}

void ConstantValues::read(Value value, int64_t index, RowRef row) {
  bool isConstant = matchPattern(value, m_Constant());
  if (!isConstant && tensorType(value).getNumElements() > kWholeElements)
    return compute(value, index, row);
  llvm::copy(ArrayRef(whole(value)).slice(index * row.size(), row.size()), row.begin());
}

void ConstantValues::readFlat(Value value, int64_t start, RowRef elements) {
  int64_t columns = columnsOf(value);
  Row row(columns);
  for (int64_t done = 0, count = elements.size(); done < count;) {
    int64_t index = (start + done) / columns, within = (start + done) % columns;
    int64_t taken = std::min(columns - within, count - done);
    read(value, index, row);
    llvm::copy(ArrayRef(row).slice(within, taken), elements.begin() + done);
    done += taken;
  }
}

/// The row at `position`, of which the last number is 0.
void ConstantValues::readBroadcast(Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> position,
                                   RowRef row) {
  Row own(columnsOf(value));
  evaluate::Dims strides = *evaluate::broadcastStrides(tensorType(value).getShape(), shape);
  read(value, evaluate::offsetOf(position, strides) / int64_t(own.size()), own);
  for (auto [column, element] : llvm::enumerate(row))
    element = own[own.size() == 1 ? 0 : column];
}

void ConstantValues::computeElements(onnx::NodeOp node, int64_t index, RowRef row) {
  ArrayRef<int64_t> shape = node.outputType(0).getShape();
  evaluate::Dims position(shape.size(), 0);
  for (int64_t dim = int64_t(shape.size()) - 2; dim >= 0; index /= shape[dim--])
    position[dim] = index % shape[dim];
  SmallVector<Row, 3> operands;
  for (Value source : sources(node)) {
    operands.emplace_back(row.size());
    readBroadcast(source, shape, position, operands.back());
  }
  SmallVector<int64_t, 3> x(operands.size());
  const evaluate::Evaluator &evaluator = *evaluatorOf(node);
  evaluate::Element element{evaluator.settingOf(ops::evaluatedNode(node)),
                            typeOf(node.getInputs()[0]), typeOf(node.getResult(0)), position, x};
  for (size_t column = 0; column < row.size(); ++column) {
    if (!position.empty())
      position.back() = int64_t(column);
    for (auto [value, operand] : llvm::zip_equal(x, operands))
      value = operand[column];
    row[column] = evaluator.element(element);
  }
}

void ConstantValues::compute(Value value, int64_t index, RowRef row) {
  if (auto read = value.getDefiningOp<ReadOp>())
    return readData(read, index, row);
  auto node = value.getDefiningOp<onnx::NodeOp>();
  if (evaluatorOf(node)->same)
    return readFlat(node.getInputs().front(), index * row.size(), row);
  computeElements(node, index, row);
}

} // namespace zero
