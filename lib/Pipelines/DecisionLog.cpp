//===- DecisionLog.cpp - what passes decided, for the report --------------===//

#include "DecisionLog.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace zero {

namespace {
/// Hands each remark to a function.
class Collector : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Collector(std::vector<DecisionLog::Entry> &entries) : entries(entries) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string text;
    for (const remark::detail::Remark::Arg &arg : remark.getArgs())
      text += arg.val;
    entries.push_back({remark.getCategoryName().str(), remark.getRemarkName().str(), text});
  }

private:
  std::vector<DecisionLog::Entry> &entries;
};
} // namespace

LogicalResult DecisionLog::attach(MLIRContext &context) {
  remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.analysis = categories.failed = ".*";
  return remark::enableOptimizationRemarks(context, std::make_unique<Collector>(entries),
                                           std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                           categories);
}

void DecisionLog::printList(StringRef category, StringRef name, StringRef title,
                            llvm::raw_ostream &os) const {
  auto matches = [&](const Entry &e) { return e.category == category && e.name == name; };
  size_t count = llvm::count_if(entries, matches);
  if (!count)
    return;
  os << title << " (" << count << "):\n";
  for (const Entry &entry : entries)
    if (matches(entry))
      os << "  " << entry.text << "\n";
}

void DecisionLog::print(llvm::raw_ostream &os) const {
  for (const Entry &entry : entries)
    if (entry.category != "parameters")
      os << entry.text << "\n";
  printList("parameters", "trained", "trained parameters", os);
  printList("parameters", "left-out", "float constants that are not trained", os);
  printList("attention", "mask", "masks that attention reads", os);
  printList("attention", "apart", "attention that is no single kernel", os);
  printList("library", "compiled", "kernels that are compiled, as the library has none", os);
}

} // namespace zero
