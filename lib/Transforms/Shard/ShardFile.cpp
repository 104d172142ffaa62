//===- ShardFile.cpp - a plan of shards from a file -----------------------===//
//
// Lines `pattern: style`. A pattern is a glob over names of parameters, or of the modules that they
// belong to: the name without its last part. Styles are those of `base_model_tp_plan` of Hugging
// Face's transformers.
//
//===----------------------------------------------------------------------===//

#include "ShardPlan.h"

#include "dialects/Onnx/OwnOperators.h"
#include "dialects/Zero/Part.h"
#include "zero/Ops/Attention.h"
#include "zero/Ops/Function.h"
#include "zero/Ops/Tables.h"
#include "zero/Transforms/Import/NamePatterns.h"

using namespace mlir;

namespace zero {

using ops::Cut;

static constexpr StringLiteral kStyles[] = {
    "colwise",
    "rowwise",
    "packed_colwise",
    "embedding_rowwise",
    "colwise_gather_output",
    "replicated",
    "sequence_parallel",
};

SmallVector<int64_t> packedParts(onnx::NodeOp node, int64_t extent) {
  Value value = node.getResult(0);
  while (!value.use_empty()) {
    auto reader = dyn_cast<onnx::NodeOp>(*value.user_begin());
    if (!reader)
      break;
    if (reader.isAnyOf({own::Attention, own::ContextAttention}) &&
        reader.getAttrs().contains(kPackedHeads)) {
      AttentionForm form(reader);
      SmallVector<int64_t> parts{form.query.heads * form.query.width,
                                 form.key.heads * form.key.width,
                                 form.value.heads * form.value.width};
      return llvm::sum_of(parts, int64_t(0)) == extent ? parts : SmallVector<int64_t>();
    }
    if (ops::computes(reader, ops::Function::Split)) {
      SmallVector<int64_t> parts;
      for (unsigned index = 0; index < reader.getNumResults(); ++index)
        parts.push_back(reader.outputType(index).getShape().back());
      if (llvm::sum_of(parts, int64_t(0)) == extent)
        return parts;
    }
    if (reader.getNumResults() != 1)
      break;
    value = reader.getResult(0);
  }
  return {};
}

/// The parts of packed columns, or else three equal ones.
static SmallVector<int64_t> packedColumns(onnx::NodeOp node, int64_t extent) {
  SmallVector<int64_t> parts = packedParts(node, extent);
  if (parts.empty() && extent % 3 == 0)
    parts.assign(3, extent / 3);
  return parts;
}

std::optional<Cut> ShardPlan::cutFor(ParameterOp parameter, StringRef style) const {
  RankedTensorType type = parameter.getTensorType();
  if (style == "embedding_rowwise")
    return type.getRank() == 2 ? std::optional(Cut{0}) : std::nullopt;
  for (Value read : reads.lookup(parameter.getSymNameAttr()))
    for (OpOperand &use : read.getUses()) {
      auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
      if (node && ops::isProduct(node) && use.getOperandNumber() == 1 && type.getRank() == 2) {
        const bool transB = node.getInt("transB", 0);
        if (style == "rowwise")
          return Cut{transB ? 1 : 0};
        Cut cut{transB ? 0 : 1};
        if (style == "packed_colwise")
          cut.parts = packedColumns(node, type.getDimSize(cut.dim));
        return cut;
      }
      // A bias: behind the sum of a product by rows it is whole.
      if (type.getRank() == 1 && style != "rowwise" && node) {
        Cut cut{0};
        if (style == "packed_colwise")
          cut.parts = packedColumns(node, type.getDimSize(0));
        return cut;
      }
    }
  return std::nullopt;
}

/// Whether ranks hold a parameter of `type` whole. Whether they have all tokens between products is
/// the choice of --sequence-parallel.
static bool isWhole(StringRef style, RankedTensorType type) {
  return style == "replicated" || style == "sequence_parallel" ||
         (style == "rowwise" && type.getRank() == 1);
}

static StringRef expectedBy(StringRef style) {
  return style == "embedding_rowwise" ? "a table of rows" : "the matrix of a product, or its bias";
}

/// The name of `parameter`, and of the module that it belongs to.
static SmallVector<StringRef> namesOf(ParameterOp parameter) {
  SmallVector<StringRef> names = modelNames(parameter);
  for (StringRef name : modelNames(parameter))
    if (StringRef owner = name.rsplit('.').first; owner != name)
      names.push_back(owner);
  return names;
}

LogicalResult ShardPlan::cutAs(ParameterOp parameter, const Cut &cut, const Twine &source) {
  RankedTensorType type = parameter.getTensorType();
  // About no line of the program, whose first may be long.
  if (!ops::shardShape(type, cut, ways))
    return emitError(UnknownLoc::get(module.getContext()))
           << source << ": expected a number of ranks that divides dimension " << cut.dim << " of '"
           << modelName(parameter) << "', " << type.getDimSize(cut.dim) << " indices, got " << ways;
  chosen[parameter.getSymNameAttr()] = cut;
  return success();
}

LogicalResult ShardPlan::read(StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (auto [index, whole] : llvm::enumerate(lines)) {
    StringRef line = whole.split('#').first.trim();
    if (line.empty())
      continue;
    const std::string source = ("line " + Twine(index + 1) + " of --tensor-plan").str();
    auto fail = [&] { return emitError(module.getLoc()) << source << ": "; };
    auto [patternText, style] = line.rsplit(':');
    patternText = patternText.trim(" \t\"'");
    style = style.trim(" \t\"',");
    if (!llvm::is_contained(kStyles, style)) {
      InFlightDiagnostic error = fail() << "expected 'pattern: style' with a style of ";
      llvm::interleaveComma(kStyles, error);
      return error << "; got '" << line << "'";
    }
    auto pattern = llvm::GlobPattern::create(patternText);
    if (!pattern)
      return fail() << "'" << patternText << "': " << llvm::toString(pattern.takeError());
    bool isUsed = false;
    for (auto parameter : module.getOps<ParameterOp>()) {
      if (!matchesAny(*pattern, namesOf(parameter)))
        continue;
      isUsed = true;
      chosen.erase(parameter.getSymNameAttr());
      RankedTensorType type = parameter.getTensorType();
      if (isWhole(style, type))
        continue;
      std::optional<Cut> cut = cutFor(parameter, style);
      if (!cut)
        return fail() << "expected " << expectedBy(style) << " for '" << style << "', got '"
                      << modelName(parameter) << "', " << type;
      if (failed(cutAs(parameter, *cut, source)))
        return failure();
    }
    if (!isUsed)
      return fail() << "expected a pattern that matches a parameter or its module, got '"
                    << patternText << "'";
  }
  return success();
}

} // namespace zero
