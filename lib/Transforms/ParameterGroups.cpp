//===- ParameterGroups.cpp - which update each parameter gets -------------===//

#include "ParameterGroups.h"

using namespace mlir;

namespace zero {

FailureOr<ParameterGroups> ParameterGroups::create(ModuleOp module, const OptimizerOptions &options,
                                                   ArrayRef<ParameterGroup> groups) {
  ParameterGroups result;
  SmallVector<ParameterGroup> all(groups);
  all.emplace_back();
  for (const ParameterGroup &group : all) {
    Member member;
    member.text = group.pattern;
    member.learningRateScale = group.learningRateScale;
    OptimizerOptions own = options;
    own.weightDecay = group.weightDecay.value_or(options.weightDecay);
    std::string error;
    member.optimizer = createOptimizer(own, error);
    if (!member.optimizer)
      return module.emitError(error);
    if (!group.pattern.empty()) {
      llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(group.pattern);
      if (!pattern)
        return module.emitError() << "parameter group '" << group.pattern
                                  << "': " << llvm::toString(pattern.takeError());
      member.pattern = std::move(*pattern);
    }
    result.members.push_back(std::move(member));
  }
  return result;
}

unsigned ParameterGroups::find(StringRef name) {
  for (auto [index, member] : llvm::enumerate(members)) {
    if (member.pattern && !member.pattern->match(name))
      continue;
    member.isUsed = true;
    return index;
  }
  llvm_unreachable("the last group takes all");
}

SmallVector<GroupOptimizer> ParameterGroups::optimizers() const {
  SmallVector<GroupOptimizer> all;
  for (const Member &member : members)
    all.push_back({member.optimizer.get(), member.learningRateScale});
  return all;
}

LogicalResult ParameterGroups::checkUsed(ModuleOp module) const {
  for (const Member &member : members)
    if (member.pattern && !member.isUsed)
      return module.emitError() << "parameter group '" << member.text
                                << "': no trained parameter has such a name, or an earlier group "
                                   "has taken it";
  return success();
}

} // namespace zero
