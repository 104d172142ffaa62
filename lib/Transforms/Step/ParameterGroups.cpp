//===- ParameterGroups.cpp - the update of each parameter -----------------===//

#include "ParameterGroups.h"

#include "zero/Transforms/Import/NamePatterns.h"

using namespace mlir;

namespace zero {

FailureOr<ParameterGroups> ParameterGroups::create(ModuleOp module, const OptimizerOptions &options,
                                                   ArrayRef<ParameterGroup> groups) {
  ParameterGroups result;
  SmallVector<ParameterGroup> all(groups);
  all.emplace_back();
  for (const ParameterGroup &group : all) {
    // A pattern refers to its text, which must stay where it is.
    auto made = std::make_unique<Member>();
    Member &member = *made;
    member.text = group.pattern;
    member.learningRateScale = group.learningRateScale;
    OptimizerOptions own = options;
    if (group.weightDecay)
      own.given[kWeightDecay.str()] = {*group.weightDecay};
    std::string error;
    member.optimizer = createOptimizer(own, error);
    if (!member.optimizer)
      return module.emitError(error);
    if (!group.pattern.empty()) {
      llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(member.text);
      if (!pattern)
        return module.emitError() << "parameter group '" << group.pattern
                                  << "': " << llvm::toString(pattern.takeError());
      member.pattern = std::move(*pattern);
    }
    result.members.push_back(std::move(made));
  }
  return result;
}

unsigned ParameterGroups::find(ArrayRef<StringRef> names) {
  for (auto [index, member] : llvm::enumerate(members)) {
    if (member->pattern && !matchesAny(*member->pattern, names))
      continue;
    member->isUsed = true;
    return index;
  }
  llvm_unreachable("the last group takes all");
}

SmallVector<GroupOptimizer> ParameterGroups::optimizers() const {
  SmallVector<GroupOptimizer> all;
  for (const std::unique_ptr<Member> &member : members)
    all.push_back({member->optimizer.get(), member->learningRateScale});
  return all;
}

LogicalResult ParameterGroups::checkUsed(ModuleOp module) const {
  for (const std::unique_ptr<Member> &member : members)
    if (member->pattern && !member->isUsed)
      return module.emitError()
             << "parameter group '" << member->text
             << "': no trained parameter matches, or all that match are in earlier groups";
  return success();
}

} // namespace zero
