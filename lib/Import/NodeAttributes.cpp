//===- NodeAttributes.cpp - check attributes that inference assumes -------===//

#include "Fold.h"
#include "NodeRules.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

/// ONNX's inference cuts axes to 32 bits, some before and some after their check.
static void checkAxis(const pb::NodeProto &node, const pb::AttributeProto &attribute) {
  if (!llvm::isInt<32>(attribute.i()))
    fail(describe(node) + ": expected an axis of 32 bits, got " + Twine(attribute.i()));
}

static void checkBatchDims(const pb::NodeProto &node, const pb::AttributeProto &attribute) {
  if (attribute.i() < 0)
    fail(describe(node) + ": expected batch_dims of at least 0, got " + Twine(attribute.i()));
}

/// ONNX's inference makes a list that long.
static void checkNumOutputs(const pb::NodeProto &node, const pb::AttributeProto &attribute) {
  if (attribute.i() != node.output_size())
    fail(describe(node) + ": expected num_outputs of " + Twine(node.output_size()) + ", got " +
         Twine(attribute.i()));
}

/// Letters for dimensions, at most one ellipsis.
static bool isTerm(StringRef text) {
  auto [before, after] = text.split("...");
  return llvm::all_of(before, llvm::isAlpha) && llvm::all_of(after, llvm::isAlpha);
}

/// Terms between commas, and at most one `->` before the last.
static void checkEquation(const pb::NodeProto &node, const pb::AttributeProto &attribute) {
  std::string text = attribute.s();
  llvm::erase(text, ' ');
  auto [operands, result] = StringRef(text).split("->");
  llvm::SmallVector<StringRef> terms;
  operands.split(terms, ',');
  terms.push_back(result);
  for (StringRef term : terms)
    if (!isTerm(term))
      fail(describe(node) + ": equation " + quote(attribute.s()) +
           ": expected letters and at most one ellipsis, got " + quote(term));
}

using Check = void (*)(const pb::NodeProto &, const pb::AttributeProto &);

static Check checkOf(StringRef name) {
  return llvm::StringSwitch<Check>(name)
      .Case("axis", checkAxis)
      .Case("batch_dims", checkBatchDims)
      .Case("equation", checkEquation)
      .Case("num_outputs", checkNumOutputs)
      .Default(nullptr);
}

void checkAttributes(const pb::NodeProto &node) {
  for (const pb::AttributeProto &attribute : node.attribute()) {
    const bool isStandard = node.domain().empty() || node.domain() == "ai.onnx";
    if (Check check = isStandard ? checkOf(attribute.name()) : nullptr)
      check(node, attribute);
    for (const pb::NodeProto &inner : attribute.g().node())
      checkAttributes(inner);
    for (const pb::GraphProto &graph : attribute.graphs())
      for (const pb::NodeProto &inner : graph.node())
        checkAttributes(inner);
  }
}

} // namespace zero::importer
