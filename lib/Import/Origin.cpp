//===- Origin.cpp - the exported call of a node ---------------------------===//

#include "Origin.h"
#include "FxCall.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace zero::importer {

/// A replacement in a module for an operation whose export cannot be trained.
static StringRef wayRound(StringRef target) {
  return llvm::StringSwitch<StringRef>(target)
      .StartsWith("aten.embedding_bag",
                  "in place of EmbeddingBag use Embedding with bags of one size, padded, and a "
                  "sum, mean or max over the axis of a bag")
      .StartsWith("aten._embedding_bag",
                  "in place of EmbeddingBag use Embedding with bags of one size, padded, and a "
                  "sum, mean or max over the axis of a bag")
      .StartsWith("higher_order.cond",
                  "in place of torch.cond compute both and choose by torch.where")
      .Default("");
}

std::string originOf(const pb::NodeProto &node) {
  constexpr size_t kLongest = 160;
  std::optional<FxCall> call = parseCall(node);
  if (!call)
    return "";
  std::string text = call->target.str() + "(" + llvm::join(call->args, ", ") + ")";
  std::string origin = "it was exported from " + quote(StringRef(text).take_front(kLongest));
  if (text.size() > kLongest)
    origin += "...";
  if (StringRef way = wayRound(call->target); !way.empty())
    origin += ": " + way.str();
  return origin;
}

} // namespace zero::importer
