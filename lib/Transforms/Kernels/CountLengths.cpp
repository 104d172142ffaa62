//===- CountLengths.cpp - operations of attention over documents ----------===//

#include "dialects/Zero/VisiblePairs.h"
#include "runtime/support/checked.h"
#include "zero/Transforms/Kernels/Passes.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_COUNTLENGTHS
#include "include/zero/Transforms/Kernels/Passes.h.inc"
} // namespace zero

using namespace zero;

/// How many documents there are of each length.
using Histogram = std::map<uint64_t, uint64_t>;

// Their square, the pairs of a document, must be a number.
static constexpr uint64_t kLongest = uint64_t(1) << 31;

static LogicalResult add(Histogram &histogram, uint64_t length, uint64_t count) {
  uint64_t &sum = histogram[length];
  return success(length > 0 && length <= kLongest && checkedAdd(sum, count, sum));
}

/// Reads lines `LENGTH COUNT`. On failure `what` names the line.
static LogicalResult readLines(StringRef text, Histogram &histogram, std::string &what) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (auto [index, line] : llvm::enumerate(lines)) {
    auto [length, count] = llvm::getToken(line.trim());
    count = count.trim();
    if (length.empty())
      continue;
    uint64_t a = 0, b = 0;
    if (parseInteger(length, a) && parseInteger(count, b) && succeeded(add(histogram, a, b)))
      continue;
    what = ("line " + Twine(index + 1) + ": expected the length of documents, at most " +
            Twine(kLongest) + ", and their number, got '" + line.trim() + "'")
               .str();
    return failure();
  }
  return success();
}

/// Reads where the documents of a folder of tokens begin; docs/reference/tokens.md.
static LogicalResult readStarts(StringRef bytes, Histogram &histogram, std::string &what) {
  const size_t entry = sizeof(uint64_t);
  auto start = [&](size_t i) { return llvm::support::endian::read64le(bytes.data() + i * entry); };
  bool valid = bytes.size() % entry == 0;
  for (size_t i = 1; valid && i < bytes.size() / entry; ++i)
    valid = start(i - 1) <= start(i) && succeeded(add(histogram, start(i) - start(i - 1), 1));
  what = "expected the starts of documents, none of them empty";
  return success(valid);
}

static LogicalResult readHistogram(Operation *module, StringRef path, Histogram &histogram) {
  SmallString<128> name(path);
  const bool isFolder = llvm::sys::fs::is_directory(path);
  if (isFolder)
    llvm::sys::path::append(name, "starts.bin");
  auto fail = [&](const Twine &what) {
    return module->emitError() << "cannot read --lengths=" << path << ": " << what;
  };
  auto file = llvm::MemoryBuffer::getFile(name, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return fail(name + ": " + file.getError().message());
  std::string what;
  const StringRef bytes = (*file)->getBuffer();
  if (failed(isFolder ? readStarts(bytes, histogram, what) : readLines(bytes, histogram, what)))
    return fail(name + ": " + what);
  if (llvm::all_of(histogram, [](auto entry) { return entry.second == 0; }))
    return fail(name + ": it has no documents");
  return success();
}

/// The pairs of rows of `row` tokens that documents fill, as a share of those of rows of one
/// document each.
static double shareOfPairs(AttentionAttr call, const Histogram &histogram) {
  const auto row = int64_t(call.getQueries());
  const auto pairsOf = [&](int64_t length) { return double(countPairs(call, length, length)); };
  double pairs = 0, tokens = 0;
  for (auto [length, count] : histogram) {
    const int64_t whole = int64_t(length) / row, rest = int64_t(length) % row;
    pairs += double(count) * (double(whole) * pairsOf(row) + pairsOf(rest));
    tokens += double(count) * double(length);
  }
  return pairs / tokens * double(row) / pairsOf(row);
}

/// Whether documents of a row see themselves alone: queries and keys are the same tokens.
static bool isOverDocuments(AttentionAttr call) {
  return call && call.getSegments() && call.getQueries() == call.getKeys() &&
         call.getCausalOffset() == 0 && call.getQueries() > 0;
}

namespace {
struct CountLengths : zero::impl::CountLengthsBase<CountLengths> {
  using CountLengthsBase::CountLengthsBase;

  void runOnOperation() override {
    Histogram histogram;
    if (failed(readHistogram(getOperation(), lengths, histogram)))
      return signalPassFailure();
    bool any = false;
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      auto library = kernel->getAttrOfType<LibraryAttr>(kLibraryAttr);
      auto call = library ? dyn_cast<AttentionAttr>(library.getCall()) : AttentionAttr();
      auto flops = kernel->getAttrOfType<IntegerAttr>(kFlopsAttr);
      if (!isOverDocuments(call) || !flops)
        continue;
      const double share = shareOfPairs(call, histogram);
      const auto counted = int64_t(std::round(double(flops.getInt()) * share));
      kernel->setAttr(kFlopsAttr, IntegerAttr::get(flops.getType(), counted));
      any = true;
    }
    if (any)
      return;
    getOperation().emitError() << "--lengths has no effect: no attention has segments, which tell "
                                  "the documents of a row apart (see --documents)";
    signalPassFailure();
  }
};
} // namespace
