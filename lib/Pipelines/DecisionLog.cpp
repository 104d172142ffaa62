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
    DecisionLog::Entry entry;
    entry.category = remark.getCategoryName().str();
    entry.name = remark.getRemarkName().str();
    for (const remark::detail::Remark::Arg &arg : remark.getArgs()) {
      entry.text += arg.val;
      StringRef number(arg.val);
      int64_t bytes;
      double seconds;
      if (arg.key == "bytes" && !number.getAsInteger(10, bytes))
        entry.bytes = bytes;
      if (arg.key == "seconds" && !number.getAsDouble(seconds))
        entry.seconds = seconds;
    }
    entries.push_back(std::move(entry));
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

void DecisionLog::print(llvm::raw_ostream &os) const {
  // A composite that was found is what everybody expects: only dumps show it.
  for (const Entry &entry : entries)
    if (entry.category != "parameters" && entry.category != "recognise")
      os << entry.text << "\n";
  auto print = [&](StringRef name, StringRef title) {
    auto matches = [&](const Entry &e) { return e.category == "parameters" && e.name == name; };
    if (size_t count = llvm::count_if(entries, matches)) {
      os << title << " (" << count << "):\n";
      for (const Entry &entry : entries)
        if (matches(entry))
          os << "  " << entry.text << "\n";
    }
  };
  print("trained", "trained parameters");
  print("left-out", "float constants that are not trained");
}

} // namespace zero
