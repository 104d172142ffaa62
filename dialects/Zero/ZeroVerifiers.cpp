//===- ZeroVerifiers.cpp - types, sizes and symbols of ops -----------------===//

#include "dialects/Zero/Mesh.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace zero;

/// The type of the state symbol `op`, or null if `op` is not a state symbol.
static RankedTensorType stateType(Operation *op) {
  if (auto parameter = dyn_cast_or_null<ParameterOp>(op))
    return parameter.getTensorType();
  if (auto state = dyn_cast_or_null<StateOp>(op))
    return state.getTensorType();
  if (auto buffer = dyn_cast_or_null<BufferOp>(op))
    return buffer.getTensorType();
  return {};
}

/// Checks that `symbol` is a state of type `type`.
static LogicalResult verifyState(Operation *op, FlatSymbolRefAttr symbol, Type type,
                                 SymbolTableCollection &tables) {
  Operation *target = tables.lookupNearestSymbolFrom(op, symbol);
  RankedTensorType expected = stateType(target);
  if (!expected)
    return op->emitOpError() << "expected a parameter, state or buffer named " << symbol;
  if (expected == type)
    return success();
  InFlightDiagnostic error = op->emitOpError()
                             << "expected " << expected << " as declared, got " << type;
  error.attachNote(target->getLoc()) << "declared here";
  return error;
}

/// Checks that `op`, a state or a parameter in `blocks`, has a code for each of `elements`.
template <typename Op>
static LogicalResult verifyCodes(Op op, BlocksAttr blocks, int64_t elements) {
  RankedTensorType codes = op.getTensorType();
  if (codes.getElementType().isInteger(8) &&
      codes.getNumElements() * 8 == elements * int64_t(blocks.getBits()))
    return success();
  return op.emitOpError() << "expected " << elements << " codes of " << blocks.getBits()
                          << " bits in bytes, got " << codes;
}

/// Checks the sizes of codes and scales against each other and against the parameter.
static LogicalResult verifyBlocks(StateOp state, SymbolTableCollection &tables) {
  BlocksAttr blocks = state.getBlocksAttr();
  auto parameter = state.getOfAttr()
                       ? tables.lookupNearestSymbolFrom<ParameterOp>(state, state.getOfAttr())
                       : ParameterOp();
  auto scales = tables.lookupNearestSymbolFrom<StateOp>(state, blocks.getScales());
  if (!parameter || !scales)
    return state.emitOpError() << "with blocks: expected a parameter, and a state of scales named "
                               << blocks.getScales();
  const int64_t elements = parameter.getTensorType().getNumElements();
  if (failed(verifyCodes(state, blocks, elements)))
    return failure();
  RankedTensorType type = scales.getTensorType();
  if (!type.getElementType().isF32() || type.getNumElements() * blocks.getSize() != elements)
    return state.emitOpError() << "expected an f32 scale for each " << blocks.getSize() << " of "
                               << elements << " elements, got " << type << " as "
                               << blocks.getScales();
  return success();
}

/// Checks a parameter in `blocks` against its scales, which may be in blocks, too.
static LogicalResult verifyBlocks(ParameterOp parameter, SymbolTableCollection &tables) {
  BlocksAttr blocks = parameter.getBlocksAttr();
  auto scales = tables.lookupNearestSymbolFrom<ParameterOp>(parameter, blocks.getScales());
  if (!scales)
    return parameter.emitOpError()
           << "with blocks: expected a parameter of scales named " << blocks.getScales();
  const int64_t elements = parameter.getValueType().getNumElements();
  if (failed(verifyCodes(parameter, blocks, elements)))
    return failure();
  const int64_t rest = elements % blocks.getSize();
  if (rest != 0 && blocks.getBits() != 8)
    return parameter.emitOpError() << "expected blocks of " << blocks.getSize() << " elements, got "
                                   << rest << " in the last one";
  RankedTensorType type = scales.getValueType();
  const int64_t count = llvm::divideCeil(elements, blocks.getSize());
  const bool hasMean = type.getNumElements() == count + 1;
  if (!type.getElementType().isF32() || (type.getNumElements() != count && !hasMean))
    return parameter.emitOpError()
           << "expected an f32 scale for each of " << count << " blocks, and perhaps a mean, got "
           << type << " as " << blocks.getScales();
  return success();
}

LogicalResult ParameterOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (getOfAttr() && !tables.lookupNearestSymbolFrom<ParameterOp>(*this, getOfAttr()))
    return emitOpError() << "expected a parameter named " << getOfAttr();
  return getDecoded() ? verifyBlocks(*this, tables) : success();
}

LogicalResult StateOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (getOfAttr() && !tables.lookupNearestSymbolFrom<ParameterOp>(*this, getOfAttr()))
    return emitOpError() << "expected a parameter named " << getOfAttr();
  return getBlocks() ? verifyBlocks(*this, tables) : success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyState(*this, getSymbolAttr(), getResult().getType(), tables);
}

LogicalResult WriteOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyState(*this, getSymbolAttr(), getValue().getType(), tables);
}

LogicalResult TransferOp::verify() {
  if (std::abs(int(getFrom()) - int(getTier())) != 1)
    return emitOpError() << "expected adjacent tiers, device and host or host and nvme, got "
                         << stringifyTier(getFrom()) << " and " << stringifyTier(getTier());
  if (getInto() && getInto().getType() != getInput().getType())
    return emitOpError() << "expected a destination of type " << getInput().getType() << ", got "
                         << getInto().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// The number of ranks of `group`; unknown where no pass has set the ranks of the program.
static std::optional<int64_t> ranksOf(Operation *op, GroupAttr group) {
  auto module = op->getParentOfType<ModuleOp>();
  if (!module || !(module->hasAttr(kRanksAttr) || module->hasAttr(kMeshAttr)))
    return std::nullopt;
  return Mesh(module).sizeOf(group);
}

static int64_t elementsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

static bool sameElement(Value a, Value b) {
  return getElementTypeOrSelf(a) == getElementTypeOrSelf(b);
}

/// Checks that `whole` has the size of one `slice` for each rank of `group`.
static LogicalResult verifySlices(Operation *op, Value whole, Value slice, GroupAttr group) {
  if (!sameElement(whole, slice))
    return op->emitOpError() << "expected one element type, got " << whole.getType() << " and "
                             << slice.getType();
  std::optional<int64_t> ranks = ranksOf(op, group);
  if (elementsOf(slice) == 0 || elementsOf(whole) % elementsOf(slice) != 0)
    return op->emitOpError() << "expected equal slices of " << whole.getType() << ", got "
                             << slice.getType();
  if (!ranks || elementsOf(whole) == elementsOf(slice) * *ranks)
    return success();
  return op->emitOpError() << "expected slices of " << *ranks << " ranks, "
                           << elementsOf(slice) * *ranks << " elements, got " << whole.getType();
}

/// Checks that the axes of `group` are of the mesh of the program.
static LogicalResult verifyGroup(Operation *op, GroupAttr group) {
  if (group && group.getAxes().empty())
    return op->emitOpError("expected a group of at least one axis");
  auto module = op->getParentOfType<ModuleOp>();
  if (!group || !module || !module->hasAttr(kMeshAttr))
    return success();
  const Mesh mesh(module);
  for (FlatSymbolRefAttr axis : group.getAxes())
    if (llvm::none_of(mesh.axes(),
                      [&](const auto &known) { return known.first == axis.getValue(); }))
      return op->emitOpError() << "expected an axis of the mesh of the program, got " << axis;
  return success();
}

/// Checks the common properties of all collectives.
static LogicalResult verifyCollective(CollectiveOpInterface op) {
  if (failed(verifyGroup(op, op.getCollectiveGroup())))
    return failure();
  Value destination = op.getDestination();
  if (destination && destination.getType() != op.getExchanged().getType())
    return op->emitOpError() << "expected a destination of type " << op.getExchanged().getType()
                             << ", got " << destination.getType();
  Type element = getElementTypeOrSelf(op.getSource());
  auto sums = op.getSumType();
  if (sums && (!isa<FloatType>(sums.getValue()) || !isa<FloatType>(element) ||
               sums.getValue().getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth()))
    return op->emitOpError() << "expected sums in a float type no narrower than " << element
                             << ", got " << sums.getValue();
  if (op.isMean() && !isa<FloatType>(element))
    return op->emitOpError() << "expected the mean of floats, got " << element;
  return success();
}

LogicalResult AllGatherOp::verify() {
  if (failed(verifyCollective(*this)))
    return failure();
  return verifySlices(*this, getResult(), getShard(), getGroupAttr());
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifyCollective(*this)))
    return failure();
  return verifySlices(*this, getInput(), getResult(), getGroupAttr());
}

LogicalResult AllReduceOp::verify() { return verifyCollective(*this); }

LogicalResult BroadcastOp::verify() {
  if (failed(verifyCollective(*this)))
    return failure();
  const int64_t root = getRootRank();
  std::optional<int64_t> ranks = ranksOf(*this, getGroupAttr());
  if (root >= 0 && (!ranks || root < *ranks))
    return success();
  InFlightDiagnostic error = emitOpError() << "expected a rank as the root";
  if (ranks)
    error << ", one of " << *ranks;
  return error << ", got " << root;
}

//===----------------------------------------------------------------------===//
// Buckets and their members
//===----------------------------------------------------------------------===//

LogicalResult OwnSliceOp::verify() {
  if (failed(verifyGroup(*this, getGroupAttr())))
    return failure();
  return verifySlices(*this, getInput(), getResult(), getGroupAttr());
}

LogicalResult MemberOp::verify() {
  if (!sameElement(getBucket(), getResult()))
    return emitOpError() << "expected an element type of " << getBucket().getType() << ", got "
                         << getResult().getType();
  const int64_t start = getViewStart();
  if (start >= 0 && start <= elementsOf(getBucket()) - elementsOf(getResult()))
    return success();
  return emitOpError() << "expected a part of the " << elementsOf(getBucket())
                       << " elements of the bucket, got " << elementsOf(getResult()) << " from "
                       << start << " on";
}

LogicalResult BucketOp::verify() {
  if (getStarts().size() != getMembers().size())
    return emitOpError() << "expected a start for each of " << getMembers().size()
                         << " members, got " << getStarts().size();
  SmallVector<std::pair<int64_t, int64_t>> ranges;
  for (auto [member, start] : llvm::zip_equal(getMembers(), getStarts())) {
    if (!sameElement(member, getResult()))
      return emitOpError() << "expected an element type of " << getResult().getType() << ", got "
                           << member.getType();
    ranges.emplace_back(start, start + elementsOf(member));
  }
  llvm::sort(ranges);
  int64_t end = 0;
  for (auto [first, last] : ranges) {
    if (first < end || last > elementsOf(getResult()))
      return emitOpError() << "expected disjoint members in ascending order in "
                           << elementsOf(getResult()) << " elements, got one at elements " << first
                           << " to " << last;
    end = last;
  }
  return success();
}

LogicalResult CheckOp::verify() {
  if (elementsOf(getValue()) != 2)
    return emitOpError() << "expected the smallest and the largest value, got "
                         << getValue().getType();
  if (int64_t(getLower()) > int64_t(getUpper()))
    return emitOpError() << "expected a range, got [" << int64_t(getLower()) << ", "
                         << int64_t(getUpper()) << "]";
  return success();
}

//===----------------------------------------------------------------------===//
// Gradients, updates, state
//===----------------------------------------------------------------------===//

/// Checks that `kernels`, if there are any, are `expected`, for `what`; or one more, where two sum
/// what one does.
static LogicalResult verifyKernels(Operation *op, std::optional<ArrayAttr> kernels, size_t expected,
                                   StringRef what, bool mayChunk = false) {
  if (!kernels || kernels->size() == expected || (mayChunk && kernels->size() == expected + 1))
    return success();
  InFlightDiagnostic error = op->emitOpError() << "expected " << expected;
  if (mayChunk)
    error << " or " << expected + 1;
  return error << " kernels that " << what << ", got " << kernels->size();
}

LogicalResult GradientOp::verify() {
  // Sums in bf16 are rounded at random: a third kernel computes by what.
  const bool isRounded = getElementTypeOrSelf(getResult().getType()).isBF16();
  return verifyKernels(*this, getAccumulate(), isRounded ? 3 : 2, "accumulate");
}

LogicalResult MicroMeanOp::verify() {
  return verifyKernels(*this, getAccumulate(), 2, "accumulate");
}

LogicalResult SquareSumOp::verify() {
  return verifyKernels(*this, getKernels(), 2, "sum squares", /*mayChunk=*/true);
}

LogicalResult UpdateOp::verify() {
  return verifyKernels(*this, getLayerwise(), 3, "measure, sum and scale", /*mayChunk=*/true);
}

LogicalResult BufferOp::verify() {
  if (int64_t(getShards()) < 1)
    return emitOpError() << "expected at least one shard, got " << int64_t(getShards());
  auto module = (*this)->getParentOfType<ModuleOp>();
  if (!module || !module->hasAttr(kRanksAttr))
    return success();
  const Mesh mesh(module);
  if (getShards() != 1 && mesh.shardAxes(int64_t(getShards())).empty())
    return emitOpError() << "expected 1 shard, or one on each of " << mesh.dataRanks() << " ranks"
                         << (mesh.sizeOf(kNodeAxis) > 1 ? " or of those of a node" : "") << ", got "
                         << getShards();
  return success();
}

/// Checks the initial values and the placement of `zero.parameter` and `zero.state` with elements
/// of type `values`.
template <typename Op>
static LogicalResult verifyTensor(Op op, RankedTensorType values) {
  if (op.getData() && op.getSplat())
    return op.emitOpError("expected initial values from a file or one value for all, got both");
  if (op.getRandom() && (op.getData() || op.getSplat() || op.getRequired()))
    return op.emitOpError("expected random initial values or given ones, got both");
  if (op.getRandom() && !isa<FloatType>(values.getElementType()))
    return op.emitOpError() << "expected floats for random initial values, got " << values;
  if (op.getHome().has_value() != op.getStart().has_value())
    return op.emitOpError("expected both home and start, or none of them");
  if (op.getStart() && int64_t(*op.getStart()) < 0)
    return op.emitOpError() << "expected a start of at least 0 in its buffer, got "
                            << int64_t(*op.getStart());
  return success();
}

LogicalResult ParameterOp::verify() {
  if (getFrozen() && getGradient())
    return emitOpError("expected no gradient of a parameter that is frozen");
  if ((getBlocks() || getOf()) && !getFrozen())
    return emitOpError("expected a frozen parameter in blocks or of scales");
  if (getDecoded() && !getBlocks())
    return emitOpError("expected the blocks of a parameter whose elements are decoded");
  return verifyTensor(*this, getValueType());
}

LogicalResult StateOp::verify() { return verifyTensor(*this, getTensorType()); }

LogicalResult BlocksAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned bits,
                                 int64_t size, CodeMap, FlatSymbolRefAttr) {
  if (bits != 8 && bits != 4)
    return emitError() << "expected codes of 8 or 4 bits, got " << bits;
  if (size < 2 || size % 2 != 0)
    return emitError() << "expected blocks of an even number of elements, got " << size;
  return success();
}

LogicalResult RunAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t first,
                              int64_t last, ArrayRef<int64_t> advances) {
  if (first < 0 || last < first)
    return emitError() << "expected layers in order, got " << first << " to " << last;
  if (advances.size() % 2 != 0)
    return emitError() << "expected pairs of layers, got " << advances.size() << " layers";
  for (size_t i = 0; i < advances.size(); i += 2)
    if (advances[i] < 0 || advances[i + 1] < advances[i] || advances[i + 1] > last)
      return emitError() << "expected layers up to " << last << " in order, got " << advances[i]
                         << " to " << advances[i + 1];
  return success();
}

LogicalResult PlanAttr::verify(function_ref<InFlightDiagnostic()> emitError, uint64_t, uint64_t,
                               uint64_t, uint64_t, Tier params, Tier, Tier optimizer,
                               NearerStateAttr nearer, uint64_t, uint64_t, uint64_t, bool) {
  Tier farthest = std::max(params, optimizer);
  if (nearer.getOrder() == StateOrder::Optimizer)
    farthest = optimizer;
  if (nearer.getOrder() == StateOrder::Params)
    farthest = params;
  for (auto [tier, bytes] :
       {std::pair{Tier::Device, nearer.getDevice()}, {Tier::Host, nearer.getHost()}})
    if (bytes > 0 && farthest <= tier)
      return emitError() << "expected state farther than " << stringifyTier(tier) << ", of which "
                         << bytes << " bytes are there; got parameters on " << stringifyTier(params)
                         << " and optimizer state on " << stringifyTier(optimizer);
  return success();
}

LogicalResult ArenaAttr::verify(function_ref<InFlightDiagnostic()> emitError, Tier, int64_t peak,
                                int64_t lowerBound, bool, StringAttr, RoleBytesAttr,
                                RoleBytesAttr) {
  if (lowerBound < 0 || peak < lowerBound)
    return emitError() << "expected an arena of at least " << lowerBound << " bytes, got " << peak;
  return success();
}

LogicalResult PartAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef of,
                               int64_t axis, int64_t begin, int64_t extent) {
  if (axis < 0)
    return emitError() << "expected a dimension of '" << of << "', got " << axis;
  if (begin < 0 || begin >= extent)
    return emitError() << "expected a part of '" << of << "' that begins in [0, " << extent
                       << "), got " << begin;
  return success();
}

LogicalResult GradientOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (!tables.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr()))
    return emitOpError() << "expected a parameter named " << getParameterAttr();
  Type result = getResult().getType(), local = getLocal().getType();
  Type element = getElementTypeOrSelf(result);
  if (result != local && !element.isF32() && !element.isBF16())
    return emitOpError() << "expected a result of type " << local << " or of f32 or bf16, got "
                         << result;
  return verifyState(*this, getParameterAttr(), local, tables);
}

/// Checks that `symbol` is a state of the shape of `type`.
static LogicalResult verifyShape(Operation *op, FlatSymbolRefAttr symbol, RankedTensorType type,
                                 SymbolTableCollection &tables) {
  RankedTensorType declared = stateType(tables.lookupNearestSymbolFrom(op, symbol));
  if (declared && declared.getShape() == type.getShape())
    return success();
  return verifyState(op, symbol, type, tables);
}

/// The arguments of `kernel` without the range of iterations: a launch executes all of them.
static ArrayRef<Type> launchedTypes(func::FuncOp kernel) {
  ArrayRef<Type> types = kernel.getArgumentTypes();
  bool hasIterations =
      types.size() > 2 && llvm::all_of(types.take_back(2), llvm::IsaPred<IndexType>);
  return hasIterations ? types.drop_back(2) : types;
}

LogicalResult UpdateOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto type = cast<RankedTensorType>(getGradient().getType());
  if (failed(verifyShape(*this, getParameterAttr(), type, tables)))
    return failure();
  FlatSymbolRefAttr scales; // of the codes before
  for (auto symbol : getStates().getAsRange<FlatSymbolRefAttr>()) {
    auto state = tables.lookupNearestSymbolFrom<StateOp>(*this, symbol);
    BlocksAttr blocks = state ? state.getBlocksAttr() : BlocksAttr();
    if (!blocks && symbol != scales && failed(verifyShape(*this, symbol, type, tables)))
      return failure();
    scales = blocks ? blocks.getScales() : FlatSymbolRefAttr();
  }
  auto kernel = tables.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError() << "expected a kernel named " << getKernelAttr();
  unsigned expected = 2 + getStates().size() + getScalars().size();
  if (size_t actual = launchedTypes(kernel).size(); actual != expected)
    return emitOpError() << "expected a kernel of " << expected << " arguments, got " << actual;
  return success();
}

/// The shapes that `launch` passes to a kernel in destination-passing form: inputs, then the
/// results that do not reuse the buffer of an input.
static SmallVector<Type> destinationTypes(LaunchOp launch, func::FuncOp kernel) {
  SmallVector<Type> types(launch.getInputs().getTypes());
  llvm::SmallBitVector inplace(launch.getNumResults());
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (auto index = kernel.getArgAttrOfType<IntegerAttr>(i, kInplaceAttr);
        index && uint64_t(index.getInt()) < inplace.size())
      inplace.set(index.getInt());
  for (auto [index, type] : llvm::enumerate(launch.getResultTypes()))
    if (!inplace.test(index))
      types.push_back(type);
  return types;
}

/// Kernels compute on signless integers, whatever signedness the step has.
static Type signlessElement(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isUnsignedInteger())
    return IntegerType::get(type.getContext(), element.getIntOrFloatBitWidth());
  return element;
}

static bool sameShapes(TypeRange expected, TypeRange actual) {
  return llvm::all_of_zip(expected, actual, [](Type a, Type b) {
    return succeeded(verifyCompatibleShape(a, b)) && signlessElement(a) == signlessElement(b);
  });
}

LogicalResult LaunchOp::verify() {
  if (bool(getUpdates()) != bool(getGradient()))
    return emitOpError("expected both of updates and gradient, or none");
  if (IntegerAttr gradient = getGradientAttr();
      gradient && uint64_t(gradient.getInt()) >= getInputs().size())
    return emitOpError() << "expected a gradient among " << getInputs().size() << " inputs, got "
                         << gradient.getInt();
  if (IntegerAttr layer = getLayerAttr(); layer && layer.getInt() < 0)
    return emitOpError() << "expected a layer of 0 or more, got " << layer.getInt();
  for (int64_t result : getKept().value_or(ArrayRef<int64_t>()))
    if (uint64_t(result) >= getNumResults())
      return emitOpError() << "expected in kept numbers of its " << getNumResults()
                           << " results, got " << result;
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto kernel = tables.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  if (!kernel || !kernel->hasAttr(kKernelAttr))
    return emitOpError() << "expected a kernel named " << getKernelAttr();
  FunctionType type = kernel.getFunctionType();
  bool matches;
  if (llvm::any_of(type.getInputs(), llvm::IsaPred<MemRefType>)) {
    SmallVector<Type> types = destinationTypes(*this, kernel);
    ArrayRef<Type> inputs = launchedTypes(kernel);
    matches = inputs.size() >= types.size() && inputs.size() <= types.size() + 1 &&
              sameShapes(inputs.take_front(types.size()), types);
  } else {
    matches = type.getNumInputs() == getInputs().size() &&
              type.getNumResults() == getNumResults() &&
              sameShapes(type.getInputs(), getInputs().getTypes()) &&
              sameShapes(type.getResults(), getResultTypes());
  }
  if (matches)
    return success();
  InFlightDiagnostic error = emitOpError() << "expected operands and results as in " << type;
  error.attachNote(kernel.getLoc()) << "kernel defined here";
  return error;
}
