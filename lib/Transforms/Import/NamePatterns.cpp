//===- NamePatterns.cpp - glob patterns that select parameters ------------===//

#include "zero/Transforms/Import/NamePatterns.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace zero {

bool matchesAny(const llvm::GlobPattern &pattern, ArrayRef<StringRef> names) {
  return llvm::any_of(names, [&](StringRef name) { return pattern.match(name); });
}

FailureOr<NamePatterns> NamePatterns::create(ModuleOp module, StringRef what,
                                             ArrayRef<std::string> texts) {
  NamePatterns patterns;
  patterns.what = what.str();
  for (const std::string &text : texts) {
    auto member = std::make_unique<Member>(Member{text, std::nullopt});
    auto pattern = llvm::GlobPattern::create(member->text);
    if (!pattern)
      return emitError(module.getLoc())
             << what << " pattern '" << text << "': " << llvm::toString(pattern.takeError());
    member->pattern = std::move(*pattern);
    patterns.members.push_back(std::move(member));
  }
  return patterns;
}

bool NamePatterns::match(ArrayRef<StringRef> names) {
  bool any = false;
  for (std::unique_ptr<Member> &member : members)
    if (matchesAny(*member->pattern, names))
      any = member->isUsed = true;
  return any;
}

const NamePatterns::Member *NamePatterns::findUnused() const {
  auto it = llvm::find_if(members, [](auto &member) { return !member->isUsed; });
  return it == members.end() ? nullptr : it->get();
}

} // namespace zero
