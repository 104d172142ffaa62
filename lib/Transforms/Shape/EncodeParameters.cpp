//===- EncodeParameters.cpp - store parameters in blocks of codes ---------===//

#include "dialects/Onnx/OwnOperators.h"
#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Ops/NodeBuilder.h"
#include "zero/Ops/Tables.h"
#include "zero/Stored/CodeTable.h"
#include "zero/Transforms/Shape/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_ENCODEPARAMETERS
#include "include/zero/Transforms/Shape/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Elements of a block of scales (QLoRA, arXiv 2305.14314, section 3).
static constexpr int64_t kScalesOfBlock = 256;

static bool isViewNode(Operation *op) { return ops::isView(dyn_cast<onnx::NodeOp>(op)); }

namespace {
/// Stores one parameter in its blocks.
class ParameterEncoder {
public:
  explicit ParameterEncoder(ParameterOp parameter)
      : parameter(parameter), value(parameter.getTensorType()) {}

  void run(ArrayRef<ReadOp> reads);

private:
  ParameterOp addScales(OpBuilder &builder, StringRef name, RankedTensorType type);
  void encode();
  void decodeFor(Value values, SmallVector<Operation *> views);
  Value decodeBefore(Operation *reader);

  ParameterOp parameter;
  RankedTensorType value; ///< of its elements
  ParameterOp scales, scalesOfScales;
  Value codes, scaleCodes, scaleScales; ///< what the step reads of them
};
} // namespace

ParameterOp ParameterEncoder::addScales(OpBuilder &builder, StringRef name, RankedTensorType type) {
  auto made = ParameterOp::create(builder, parameter.getLoc(), name, type, DataAttr(), FloatAttr(),
                                  /*frozen=*/true);
  made.setOfAttr(FlatSymbolRefAttr::get(parameter.getSymNameAttr()));
  return made;
}

/// Makes `parameter` one of codes, and adds the parameters of its scales.
void ParameterEncoder::encode() {
  MLIRContext *context = parameter.getContext();
  OpBuilder builder(context);
  builder.setInsertionPointAfter(parameter);
  const BlocksAttr blocks = parameter.getBlocksAttr();
  const int64_t elements = value.getNumElements();
  const int64_t count = llvm::divideCeil(elements, blocks.getSize());
  auto bytes = [&](int64_t size) { return RankedTensorType::get({size}, builder.getI8Type()); };
  auto floats = [&](int64_t size) { return RankedTensorType::get({size}, builder.getF32Type()); };
  const std::string name = blocks.getScales().getValue().str(), second = name + kScaleSuffix.str();
  scales = addScales(builder, name, bytes(count));
  scales.setDecodedAttr(TypeAttr::get(floats(count)));
  scales.setBlocksAttr(BlocksAttr::get(context, 8, kScalesOfBlock, CodeMap::Dynamic,
                                       FlatSymbolRefAttr::get(context, second)));
  // One for each block, and the mean.
  scalesOfScales = addScales(builder, second, floats(llvm::divideCeil(count, kScalesOfBlock) + 1));
  if (DataAttr data = parameter.getDataAttr(); data && !data.getStored())
    parameter.setDataAttr(DataAttr::get(context, data.getFile(), data.getOffset(), data.getBytes(),
                                        value.getElementType()));
  parameter.setDecodedAttr(TypeAttr::get(value));
  parameter.setType(bytes(elements * blocks.getBits() / 8));
}

/// The elements that `codes` in the blocks of `of` stand for.
static Value decode(NodeBuilder &nodes, ParameterOp of, Value codes, Value scales) {
  const BlocksAttr blocks = of.getBlocksAttr();
  return nodes
      .create(own::DecodeBlocks, of.getValueType(), {codes, scales},
              {nodes.attr("bits", int64_t(blocks.getBits())), nodes.attr("size", blocks.getSize()),
               nodes.attr("map", stringifyCodeMap(blocks.getMap()))})
      ->getResult(0);
}

/// The elements of the parameter for `reader`, an op of the step.
Value ParameterEncoder::decodeBefore(Operation *reader) {
  OpBuilder builder(reader);
  NodeBuilder nodes(builder, parameter.getLoc(), parameter.getSymName());
  Value ofBlocks = decode(nodes, scales, scaleCodes, scaleScales);
  Value decoded = decode(nodes, parameter, codes, ofBlocks);
  for (Value made : {ofBlocks, decoded}) {
    setSchedule(made.getDefiningOp(), scheduleOf(reader));
    if (Attribute again = reader->getAttr(kRecomputeAttr))
      made.getDefiningOp()->setAttr(kRecomputeAttr, again);
  }
  return decoded;
}

/// Replaces `values`, the elements under `views`, in each op that reads them by decoded ones.
void ParameterEncoder::decodeFor(Value values, SmallVector<Operation *> views) {
  Block *body = codes.getParentBlock();
  for (OpOperand &use : llvm::make_early_inc_range(values.getUses())) {
    Operation *user = use.getOwner();
    if (isViewNode(user)) {
      SmallVector<Operation *> more = views;
      more.push_back(user);
      decodeFor(user->getResult(0), more);
      user->erase();
      continue;
    }
    Operation *reader = body->findAncestorOpInBlock(*user);
    Value decoded = decodeBefore(reader);
    OpBuilder builder(reader);
    for (Operation *view : views) {
      IRMapping as;
      as.map(view->getOperand(0), decoded);
      decoded = builder.clone(*view, as)->getResult(0);
    }
    use.set(decoded);
  }
}

void ParameterEncoder::run(ArrayRef<ReadOp> reads) {
  encode();
  for (ReadOp old : reads) {
    OpBuilder builder(old);
    auto read = [&](ParameterOp of) -> Value {
      return ReadOp::create(builder, old.getLoc(), of.getTensorType(),
                            FlatSymbolRefAttr::get(of.getSymNameAttr()));
    };
    codes = read(parameter), scaleCodes = read(scales), scaleScales = read(scalesOfScales);
    decodeFor(old.getResult(), {});
    old.erase();
  }
}

namespace {
struct EncodeParameters : zero::impl::EncodeParametersBase<EncodeParameters> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<ParameterOp> planned;
    for (auto parameter : module.getOps<ParameterOp>())
      if (parameter.getBlocks() && !parameter.getDecoded())
        planned.push_back(parameter);
    if (planned.empty())
      return;
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    llvm::DenseMap<StringAttr, SmallVector<ReadOp>> reads;
    for (auto read : step->getBody().getOps<ReadOp>())
      reads[read.getSymbolAttr().getAttr()].push_back(read);
    for (ParameterOp parameter : planned)
      ParameterEncoder(parameter).run(reads.lookup(parameter.getSymNameAttr()));
  }
};
} // namespace
