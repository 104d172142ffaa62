//===- ParameterGroups.cpp - the update of each parameter -----------------===//

#include "ParameterGroups.h"

#include "zero/Transforms/Import/NamePatterns.h"

using namespace mlir;

namespace zero {

/// Adds the optimizer of `options` for `group`.
LogicalResult ParameterGroups::add(ModuleOp module, const ParameterGroup &group,
                                   OptimizerOptions options, double learningRateScale,
                                   const std::optional<AverageOptions> &average) {
  // A pattern refers to its text, which must stay where it is.
  auto made = std::make_unique<Member>();
  Member &member = *made;
  member.text = group.pattern;
  member.learningRateScale = group.learningRateScale * learningRateScale;
  member.schedule = group.schedule;
  if (group.weightDecay)
    options.given[kWeightDecay.str()] = {*group.weightDecay};
  std::string error;
  member.optimizer = createOptimizer(options, error);
  if (!member.optimizer)
    return module.emitError(error);
  if (average && member.optimizer->isLayerwise())
    return module.emitError("an average of parameters: expected an optimizer that does not scale "
                            "steps by norms of whole parameters, got ")
           << member.optimizer->getSettings().definition().name;
  if (average)
    member.optimizer = addAverage(std::move(member.optimizer), *average);
  member.isOfMatrices = member.optimizer->isOfMatrices();
  if (!group.pattern.empty()) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(member.text);
    if (!pattern)
      return module.emitError() << "parameter group '" << group.pattern
                                << "': " << llvm::toString(pattern.takeError());
    member.pattern = std::move(*pattern);
  }
  members.push_back(std::move(made));
  return success();
}

FailureOr<ParameterGroups> ParameterGroups::create(ModuleOp module, const OptimizerOptions &options,
                                                   const OtherOptimizer &other,
                                                   ArrayRef<ParameterGroup> groups,
                                                   const std::optional<AverageOptions> &average) {
  ParameterGroups result;
  SmallVector<ParameterGroup> all(groups);
  all.emplace_back();
  OptimizerOptions beside = other.options;
  if (other.weightDecay)
    beside.given[kWeightDecay.str()] = {*other.weightDecay};
  for (const ParameterGroup &group : all) {
    if (failed(result.add(module, group, options, 1, average)) ||
        (result.divides() &&
         failed(result.add(module, group, beside, other.learningRateScale, average))))
      return failure();
  }
  return result;
}

unsigned ParameterGroups::find(ArrayRef<StringRef> names, bool isMatrix) {
  for (auto [index, member] : llvm::enumerate(members)) {
    if (member->isOfMatrices != isMatrix ||
        (member->pattern && !matchesAny(*member->pattern, names)))
      continue;
    member->isUsed = true;
    return index;
  }
  llvm_unreachable("the last group takes all");
}

std::string ParameterGroups::describe() const {
  std::string text = members.back()->optimizer->getSettings().describe();
  if (divides())
    text = members[members.size() - 2]->optimizer->getSettings().describe() + " and " + text;
  return text;
}

SmallVector<GroupOptimizer> ParameterGroups::optimizers() const {
  SmallVector<GroupOptimizer> all;
  for (const std::unique_ptr<Member> &member : members)
    all.push_back({member->optimizer.get(), member->learningRateScale,
                   member->schedule ? &*member->schedule : nullptr});
  return all;
}

LogicalResult ParameterGroups::checkUsed(ModuleOp module) const {
  auto isUsed = [&](const Member &group) {
    return llvm::any_of(members, [&](const std::unique_ptr<Member> &member) {
      return member->text == group.text && member->isUsed;
    });
  };
  for (const std::unique_ptr<Member> &member : members)
    if (member->pattern && !isUsed(*member))
      return module.emitError()
             << "parameter group '" << member->text
             << "': no trained parameter matches, or all that match are in earlier groups";
  return success();
}

} // namespace zero
