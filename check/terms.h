//===- terms.h - what bytes hold --------------------------------*- C++ -*-===//
// A term says how bytes were computed. Equal terms have equal numbers, so two ranges hold the same
// bytes if they have the same term and offset. A term of an element-wise function or of a sum has
// all elements that its operands have: element e of the term reads element e + delta of an operand.
// So each slice of a bucket has the term that the entire bucket has.
//===----------------------------------------------------------------------===//

#ifndef CHECK_TERMS_H
#define CHECK_TERMS_H

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace zero::check {

/// 0: no value, as in bytes that were never written.
using Term = uint32_t;

enum class Kind : int64_t {
  Leaf,    ///< a named value: a state, an input, a constant
  Call,    ///< a call of a kernel, whose results are Result
  Result,  ///< what a call leaves in one of its arguments
  Element, ///< what an element-wise kernel leaves in one of its arguments
  Sum,     ///< of operands in order, rounded in one type and divided by a number
  Scale,   ///< the operand times a float32
};

/// Bytes [offset, offset + size) of a term.
struct Slice {
  Term term = 0;
  int64_t offset = 0, size = 0;
};
using Slices = std::vector<Slice>;

/// An argument of a call: all bytes that it reads; or, of an element-wise function, `width` bytes
/// for each element, from the offset of the only slice on.
struct Operand {
  int64_t argument = 0, width = 0;
  Slices slices;
};

class Terms {
public:
  /// With `upToOrder`, sums of the same operands in another order are equal.
  explicit Terms(bool upToOrder) : upToOrder(upToOrder) {
    begins = {0, 0};
    hashes = {0};
  }

  Term leaf(const std::string &name);
  Term call(int64_t kernel, int64_t iterations, const std::vector<Operand> &operands);
  Term result(Term call, int64_t argument);
  /// The first byte of what an element-wise function gives for operands that begin at their slices.
  Slice element(int64_t kernel, int64_t argument, int64_t width, std::vector<Operand> operands);
  /// The same for a sum of `operands` of `width` bytes in the type `dtype`, with additions in
  /// `arithmetic`, divided by `divisor`.
  Slice sum(int64_t dtype, int64_t arithmetic, int64_t divisor, int64_t width,
            const Slices &operands);
  Slice scale(float factor, Slice operand);

  using Renaming = std::unordered_map<Term, Term>;
  /// `root` with leaves whose names end in `from` replaced by those that end in `to`. `renamed` has
  /// what is known of operands, and stays valid for the same names.
  Term rename(Term root, const std::string &from, const std::string &to, Renaming &renamed);

  Kind kindOf(Term term) const { return Kind(words[begins[term]]); }
  /// Calls body(term) for each operand.
  void forEachOperand(Term term, const std::function<void(Term)> &body) const;
  /// The leaves that each of `terms` depends on.
  std::set<Term> leavesOf(const std::vector<Term> &terms) const;
  const std::string &nameOf(Term leaf) const { return names[size_t(words[begins[leaf] + 1])]; }
  /// A description of `depth` levels. `kernelName` names kernels.
  std::string describe(Term term, const std::function<std::string(int64_t)> &kernelName,
                       int depth = 2) const;
  /// Where `found` first differs from `expected`: the innermost pair of different operands.
  std::pair<Term, Term> difference(Term found, Term expected) const;
  bool isUpToOrder() const { return upToOrder; }
  size_t size() const { return begins.size() - 2; }

private:
  Term intern(const std::vector<int64_t> &encoded);
  void growTable();
  /// Encodes an element-wise function from its operands' first element on.
  Slice stream(Kind kind, int64_t a, int64_t b, int64_t width, std::vector<Operand> operands);
  void flatten(int64_t dtype, Slice operand, int64_t width, bool all, Slices &into) const;
  std::vector<Term> operandsOf(Term term) const;
  Term renameOperands(Term term, const Renaming &renamed);

  bool upToOrder;
  std::vector<int64_t> words;
  std::vector<size_t> begins;   ///< of each term in `words`; one more at the end
  std::vector<uint64_t> hashes; ///< of each term
  std::vector<Term> table;      ///< terms by their hash, each in the first place that was free
  std::vector<std::string> names;
  std::unordered_map<std::string, int64_t> nameNumbers;
};

} // namespace zero::check

#endif // CHECK_TERMS_H
