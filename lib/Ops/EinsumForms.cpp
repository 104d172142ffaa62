//===- EinsumForms.cpp - expand equations into products of two ------------===//
//
// An ellipsis becomes separate indices. An index that occurs twice in an operand selects the
// diagonal: the second occurrence gets a new letter, and a product with the identity matrix equates
// the two. A broadcast dimension of one is dropped. Then the operands are multiplied from the left,
// and each product sums over the indices that are not needed later.
//
// Matrices whose elements are a batch apart, as the modes of a spectral layer in
// "bixy,ioxy->boxy" (Li et al., arXiv 2010.08895), are transposed so that the batch comes first:
// libraries multiply matrices whose rows or columns are contiguous.
//
//===----------------------------------------------------------------------===//

#include "Einsum.h"
#include "Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;

namespace zero::ops {

namespace {
/// An operand with one letter for each dimension.
struct Term {
  std::string indices;
  Value value;

  ArrayRef<int64_t> shape() const { return tensorType(value).getShape(); }
  bool has(char index) const { return indices.find(index) != std::string::npos; }
};

class Former {
public:
  Former(onnx::NodeOp node, NodeBuilder &builder) : node(node), builder(builder) {}

  /// Reads the equation; fails after an error at the node.
  LogicalResult parse();
  /// Whether two operands need none of the rewrites.
  bool isPlain();
  /// Whether an index of the batch is the innermost of an operand or of the result, and the
  /// products have rows, columns and terms.
  bool isBatchInnermost() const;
  Value build();
  Value buildBatchFirst();

private:
  LogicalResult refuse(const Twine &reason) {
    return nodeError(node) << "equation '" << node.getString("equation", "") << "': " << reason;
  }
  LogicalResult parseTerm(StringRef text, Value operand);
  LogicalResult measure();
  LogicalResult checkRepeated();
  std::string impliedResult() const;
  std::string withEllipsis(StringRef text, size_t count) const;
  char fresh();
  Value identity(int64_t extent);
  void tieRepeated();
  void dropBroadcast();
  Term multiply(const Term &a, const Term &c, const std::string &kept);
  Value sum(const Term &term);
  Value inOrder(const Term &term, StringRef order);
  bool isBatch(char index) const;
  std::string batchFirst(StringRef indices) const;

  onnx::NodeOp node;
  NodeBuilder &builder;
  std::vector<Term> terms;
  std::string result, ellipsis, used;
  std::map<char, int64_t> extents;
};
} // namespace

char Former::fresh() {
  for (StringRef letters : {"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"})
    for (char letter : letters)
      if (used.find(letter) == std::string::npos) {
        used += letter;
        return letter;
      }
  return 0;
}

/// `text` with the last `count` letters of the ellipsis for its dots.
std::string Former::withEllipsis(StringRef text, size_t count) const {
  auto [before, after] = text.split("...");
  return (before + StringRef(ellipsis).take_back(count) + after).str();
}

LogicalResult Former::parseTerm(StringRef text, Value operand) {
  size_t rank = tensorType(operand).getRank();
  size_t letters = text.contains("...") ? text.size() - 3 : text.size();
  if (rank < letters || (!text.contains("...") && rank != letters))
    return refuse("expected " + Twine(letters) + " dimensions in '" + text + "', got " +
                  Twine(rank));
  for (; ellipsis.size() < rank - letters;) {
    char letter = fresh();
    if (!letter)
      return refuse("too many indices");
    ellipsis.insert(ellipsis.begin(), letter);
  }
  terms.push_back({text.str(), operand});
  return success();
}

/// Without `->`: the indices of an ellipsis, followed by those that occur once, in order.
std::string Former::impliedResult() const {
  std::map<char, int> counts;
  for (const Term &term : terms)
    for (char index : term.indices)
      ++counts[index];
  std::string implied = ellipsis;
  for (auto [index, count] : counts)
    if (count == 1 && ellipsis.find(index) == std::string::npos)
      implied += index;
  return implied;
}

LogicalResult Former::measure() {
  for (const Term &term : terms)
    for (auto [dim, extent] : llvm::enumerate(term.shape())) {
      const char index = term.indices[dim];
      // A broadcast is between operands; a diagonal has equal extents.
      if (int64_t first = term.shape()[term.indices.find(index)]; first != extent)
        return refuse("index '" + Twine(index) + "' has extents " + Twine(first) + " and " +
                      Twine(extent) + " in one operand");
      int64_t &known = extents.try_emplace(index, extent).first->second;
      if (known != extent && known != 1 && extent != 1)
        return refuse("index '" + Twine(index) + "' has extents " + Twine(known) + " and " +
                      Twine(extent));
      known = known == 1 ? extent : known;
    }
  for (char index : result) {
    if (!extents.count(index))
      return refuse("index '" + Twine(index) + "' of the result is in no operand");
    if (llvm::count(result, index) > 1)
      return refuse("index '" + Twine(index) + "' occurs twice in the result");
  }
  return success();
}

/// Each repeated index gets a new letter and an identity matrix.
LogicalResult Former::checkRepeated() {
  constexpr int64_t kMostDiagonal = 4096;
  size_t letters = extents.size();
  for (const Term &term : terms)
    for (size_t dim = 0; dim < term.indices.size(); ++dim) {
      char index = term.indices[dim];
      if (term.indices.find(index) == dim)
        continue;
      if (extents[index] > kMostDiagonal)
        return refuse("expected a diagonal of at most " + Twine(kMostDiagonal) + " elements, got " +
                      Twine(extents[index]));
      if (++letters > 52)
        return refuse("too many indices");
    }
  return success();
}

LogicalResult Former::parse() {
  std::string text = node.getString("equation", "").str();
  llvm::erase(text, ' ');
  for (char c : text)
    if (llvm::isAlpha(c))
      used += c;
    else if (!StringRef(",.->").contains(c))
      return refuse("unexpected '" + Twine(c) + "'");
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> sides;
  left.split(sides, ',');
  if (sides.size() != node.getInputs().size())
    return refuse("expected " + Twine(sides.size()) + " operands, got " +
                  Twine(node.getInputs().size()));
  for (auto [side, operand] : llvm::zip_equal(sides, node.getInputs()))
    if (failed(parseTerm(side, operand)))
      return failure();
  for (Term &term : terms)
    if (StringRef(term.indices).contains("..."))
      term.indices = withEllipsis(term.indices, term.shape().size() - (term.indices.size() - 3));
  result = StringRef(text).contains("->") ? withEllipsis(right, ellipsis.size()) : impliedResult();
  if (!right.contains("...") && StringRef(text).contains("->"))
    result = right.str();
  return failed(measure()) ? failure() : checkRepeated();
}

bool Former::isPlain() {
  if (terms.size() != 2 || !ellipsis.empty() ||
      StringRef(node.getString("equation", "")).contains("..."))
    return false;
  return llvm::all_of(terms, [&](const Term &term) {
    return llvm::all_of(llvm::zip_equal(term.indices, term.shape()), [&](auto pair) {
      auto [index, extent] = pair;
      return llvm::count(term.indices, index) == 1 && extent == extents.at(index);
    });
  });
}

Value Former::identity(int64_t extent) {
  auto type = RankedTensorType::get({extent, extent}, node.inputType(0).getElementType());
  SmallVector<Attribute> elements;
  Builder &b = builder.getBuilder();
  auto number = [&](int64_t value) -> Attribute {
    if (isa<FloatType>(type.getElementType()))
      return b.getFloatAttr(type.getElementType(), double(value));
    return b.getIntegerAttr(type.getElementType(), value);
  };
  for (int64_t row = 0; row < extent; ++row)
    for (int64_t column = 0; column < extent; ++column)
      elements.push_back(number(row == column));
  return arith::ConstantOp::create(builder.getBuilder(), builder.getLoc(),
                                   DenseElementsAttr::get(type, elements));
}

void Former::tieRepeated() {
  std::vector<Term> tied;
  for (Term &term : terms) {
    std::vector<Term> identities;
    for (size_t dim = 0; dim < term.indices.size(); ++dim) {
      char index = term.indices[dim];
      if (term.indices.find(index) == dim)
        continue;
      term.indices[dim] = fresh();
      extents[term.indices[dim]] = extents[index];
      identities.push_back({{index, term.indices[dim]}, identity(extents[index])});
    }
    tied.push_back(term);
    tied.insert(tied.end(), identities.begin(), identities.end());
  }
  terms = std::move(tied);
}

void Former::dropBroadcast() {
  for (Term &term : terms) {
    Term kept;
    SmallVector<int64_t> shape;
    for (auto [index, extent] : llvm::zip_equal(term.indices, term.shape()))
      if (extent == extents[index]) {
        kept.indices += index;
        shape.push_back(extent);
      }
    kept.value = builder.reshape(term.value, shape);
    term = kept;
  }
}

Term Former::multiply(const Term &a, const Term &c, const std::string &kept) {
  SmallVector<int64_t> shape;
  for (char index : kept)
    shape.push_back(extents[index]);
  std::string equation = a.indices + "," + c.indices + "->" + kept;
  onnx::NodeOp product =
      builder.create(op::Einsum, tensorType(a.value).clone(shape), {a.value, c.value},
                     builder.attr("equation", StringRef(equation)));
  return {kept, product.getResult(0)};
}

/// `term` with its dimensions in another order.
Value Former::inOrder(const Term &term, StringRef order) {
  auto axes =
      llvm::map_to_vector(order, [&](char index) { return int64_t(term.indices.find(index)); });
  return llvm::is_sorted(axes) ? term.value : builder.transpose(term.value, axes);
}

/// `term` summed over the indices that the result lacks, in the order of the result.
Value Former::sum(const Term &term) {
  SmallVector<int64_t> axes;
  std::string rest;
  for (auto [dim, index] : llvm::enumerate(term.indices)) {
    if (result.find(index) == std::string::npos)
      axes.push_back(dim);
    else
      rest += index;
  }
  return inOrder({rest, builder.reduceSum(term.value, axes, /*keepdims=*/false)}, result);
}

Value Former::build() {
  dropBroadcast();
  tieRepeated();
  Term product = terms.front();
  for (size_t next = 1; next < terms.size(); ++next) {
    std::string kept = next + 1 == terms.size() ? result : "";
    for (char index : product.indices + terms[next].indices) {
      bool isNeeded = result.find(index) != std::string::npos;
      for (size_t later = next + 1; later < terms.size(); ++later)
        isNeeded |= terms[later].has(index);
      if (isNeeded && kept.find(index) == std::string::npos)
        kept += index;
    }
    product = multiply(product, terms[next], kept);
  }
  return terms.size() == 1 ? sum(product) : product.value;
}

/// Of two operands.
bool Former::isBatch(char index) const {
  return terms[0].has(index) && terms[1].has(index) && StringRef(result).contains(index);
}

std::string Former::batchFirst(StringRef indices) const {
  std::string batch, others;
  for (char index : result)
    if (isBatch(index))
      batch += index;
  for (char index : indices)
    if (!isBatch(index))
      others += index;
  return batch + others;
}

bool Former::isBatchInnermost() const {
  int64_t rows = 1, columns = 1, depth = 1;
  for (auto [index, extent] : extents)
    if (!isBatch(index) && terms[0].has(index) && terms[1].has(index))
      depth *= extent;
    else if (!isBatch(index) && StringRef(result).contains(index))
      (terms[0].has(index) ? rows : columns) *= extent;
  if (rows == 1 || columns == 1 || depth == 1)
    return false;
  return llvm::any_of(ArrayRef<StringRef>{terms[0].indices, terms[1].indices, result},
                      [&](StringRef indices) {
                        auto isLong = [&](char index) { return extents.at(index) > 1; };
                        return isBatch(*llvm::find_if(llvm::reverse(indices), isLong));
                      });
}

Value Former::buildBatchFirst() {
  for (Term &term : terms) {
    const std::string indices = batchFirst(term.indices);
    term = {indices, inOrder(term, indices)};
  }
  return inOrder(multiply(terms[0], terms[1], batchFirst(result)), result);
}

LogicalResult expandEinsum(onnx::NodeOp node, NodeBuilder &builder,
                           SmallVectorImpl<Value> &results) {
  Former former(node, builder);
  if (failed(former.parse()))
    return failure();
  if (!former.isPlain())
    results.push_back(former.build());
  else if (former.isBatchInnermost())
    results.push_back(former.buildBatchFirst());
  return success();
}

} // namespace zero::ops
