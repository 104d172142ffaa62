//===- Metadata.cpp - PyTorch metadata of nodes ---------------------------===//

#include "Metadata.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace zero::importer {

void forEachWord(StringRef text, char mark, llvm::function_ref<void(StringRef)> visit) {
  while (!text.empty()) {
    text = text.split(mark).second;
    visit(text.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; }));
  }
}

llvm::SmallVector<StringRef> quotedWords(StringRef text) {
  llvm::SmallVector<StringRef> parts, words;
  text.split(parts, '\'');
  for (size_t i = 1; i + 1 < parts.size(); i += 2)
    words.push_back(parts[i]);
  return words;
}

bool isOptimized(const pb::GraphProto &graph) {
  return llvm::any_of(graph.value_info(),
                      [](const auto &value) { return !metadata(value, kFoldedFromKey).empty(); }) ||
         llvm::any_of(graph.node(),
                      [](const auto &node) { return !metadata(node, kRewriteRuleKey).empty(); });
}

} // namespace zero::importer
