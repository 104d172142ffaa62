//===- DecisionLog.cpp - decisions of passes, for the report --------------===//

#include "zero/Report/DecisionLog.h"

#include "mlir/IR/Remarks.h"
#include "runtime/support/checked.h"
#include "zero/Import/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <numeric>
#include <utility>

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
      entry.text += printable(arg.val);
      StringRef number(arg.val);
      int64_t bytes;
      double seconds;
      if (arg.key == "bytes" && parseInteger(number, bytes))
        entry.bytes = bytes;
      if (arg.key == "seconds" && parseReal(number, seconds))
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

/// Maximum numbers of parameters, of kinds, and of constants that are listed without -v.
static constexpr size_t kListed = 10, kKinds = 6, kListedConstants = 20;

namespace {
/// Parameters of equal type whose names differ only in numbers: "h.*.attn.weight".
struct Kind {
  std::string name; ///< the name itself if there is only one
  StringRef type;   ///< "128x256xf32", ", frozen" may follow
  size_t count = 0;
  int64_t elements = 0; ///< of all of them
};
} // namespace

/// `name` with '*' in place of each part that is a number; parts end at '.' and '/'.
static std::string patternOf(StringRef name) {
  std::string pattern;
  while (!name.empty()) {
    const size_t end = std::min(name.find_first_of("./"), name.size());
    StringRef part = name.take_front(end);
    const bool isNumber = !part.empty() && llvm::all_of(part, llvm::isDigit);
    pattern += isNumber ? "*" : part.str();
    pattern += name.substr(end, 1);
    name = name.drop_front(std::min(end + 1, name.size()));
  }
  return pattern;
}

/// The product of the numbers that `type` begins with: 32768 of "128x256xf32".
static int64_t elementsOf(StringRef type) {
  int64_t elements = 1, dimension;
  while (!type.consumeInteger(10, dimension)) {
    elements *= dimension;
    if (!type.consume_front("x"))
      break;
  }
  return elements;
}

/// The kinds of parameters in `lines`, each "name: type", those with the most elements first.
static std::vector<Kind> findKinds(ArrayRef<const DecisionLog::Entry *> lines) {
  std::vector<Kind> kinds;
  std::map<std::pair<std::string, StringRef>, size_t> numbers;
  for (const DecisionLog::Entry *line : lines) {
    auto [name, type] = StringRef(line->text).rsplit(": ");
    std::string pattern = patternOf(name);
    auto [it, isNew] = numbers.try_emplace({pattern, type}, kinds.size());
    if (isNew)
      kinds.emplace_back();
    Kind &kind = kinds[it->second];
    kind.name = kind.count == 0 ? name.str() : pattern;
    kind.type = type;
    kind.elements += elementsOf(type);
    ++kind.count;
  }
  llvm::stable_sort(kinds, [](const Kind &a, const Kind &b) { return a.elements > b.elements; });
  return kinds;
}

static void printSummary(ArrayRef<const DecisionLog::Entry *> lines, llvm::raw_ostream &os) {
  std::vector<Kind> kinds = findKinds(lines);
  auto sum = [](ArrayRef<Kind> some, auto field) {
    return std::accumulate(some.begin(), some.end(), int64_t(0),
                           [&](int64_t all, const Kind &k) { return all + int64_t(k.*field); });
  };
  os << ", " << sum(kinds, &Kind::elements) << " elements, the largest of " << kinds.size()
     << " kinds; -v lists all:\n";
  // A line "1 more kind" would be as long as the line of that kind.
  const size_t shown = kinds.size() <= kKinds + 1 ? kinds.size() : kKinds;
  for (const Kind &kind : ArrayRef(kinds).take_front(shown)) {
    os << "  " << kind.name << ": " << kind.type;
    if (kind.count > 1)
      os << ", " << kind.count << " of them";
    os << "\n";
  }
  if (ArrayRef<Kind> rest = ArrayRef(kinds).drop_front(shown); !rest.empty())
    os << "  and " << rest.size() << " more kinds: " << sum(rest, &Kind::count) << " tensors, "
       << sum(rest, &Kind::elements) << " elements\n";
}

std::vector<const DecisionLog::Entry *> DecisionLog::select(StringRef category,
                                                            StringRef name) const {
  std::vector<const Entry *> selected;
  for (const Entry &entry : entries)
    if (entry.category == category && entry.name == name)
      selected.push_back(&entry);
  return selected;
}

static void printParameters(StringRef kind, ArrayRef<const DecisionLog::Entry *> lines,
                            llvm::raw_ostream &os, bool verbose) {
  if (lines.empty())
    return;
  os << kind << " parameters (" << lines.size() << ")";
  if (!verbose && lines.size() > kListed)
    return printSummary(lines, os);
  os << ":\n";
  for (const DecisionLog::Entry *line : lines)
    os << "  " << line->text << "\n";
}

/// `text` with the letters of quoted names only: numbers tell layers apart.
static std::string withoutNumbersOfNames(StringRef text) {
  std::string kind;
  bool isQuoted = false;
  for (char c : text) {
    isQuoted ^= c == '\'';
    if (!isQuoted || llvm::isAlpha(c))
      kind += c;
  }
  return kind;
}

/// Prints what passes decided. Of texts about what stays whole along tensor that differ only in
/// numbers of names, prints the first, and how many more there are, unless `verbose`.
static void printDecisions(ArrayRef<DecisionLog::Entry> entries, llvm::raw_ostream &os,
                           bool verbose) {
  auto isOfMany = [&](const DecisionLog::Entry &entry) {
    return !verbose && entry.category == "tensor" && entry.name == "whole";
  };
  llvm::StringMap<size_t> alike;
  for (const DecisionLog::Entry &entry : entries)
    if (isOfMany(entry))
      ++alike[withoutNumbersOfNames(entry.text)];
  for (const DecisionLog::Entry &entry : entries) {
    // Users expect that composites are found: only dumps show them.
    if (entry.category == "parameters" || entry.category == "updates" ||
        entry.category == "recognise")
      continue;
    const size_t count =
        isOfMany(entry) ? std::exchange(alike[withoutNumbersOfNames(entry.text)], 0) : 1;
    if (count == 1)
      os << entry.text << "\n";
    else if (count > 1)
      os << entry.text << "; " << count - 1 << " more like it\n";
  }
}

void DecisionLog::print(llvm::raw_ostream &os, bool verbose) const {
  printDecisions(entries, os, verbose);
  for (StringRef kind : {"trained", "frozen"})
    printParameters(kind, select("parameters", kind), os, verbose);
  llvm::SetVector<StringRef> optimizers; // if there are several
  for (const Entry &entry : entries)
    if (entry.category == "updates")
      optimizers.insert(entry.name);
  for (StringRef optimizer : optimizers)
    printParameters(optimizer, select("updates", optimizer), os, verbose);
  if (auto left = select("parameters", "left-out"); !left.empty()) {
    os << "float constants that are not trained (" << left.size() << "):\n";
    const size_t shown =
        verbose || left.size() <= kListedConstants ? left.size() : kListedConstants;
    for (const Entry *entry : ArrayRef(left).take_front(shown))
      os << "  " << entry->text << "\n";
    if (shown < left.size())
      os << "  and " << left.size() - shown << " more; -v lists all\n";
  }
}

} // namespace zero
