//===- terms.h - what bytes hold --------------------------------*- C++ -*-===//
// A term says how bytes were computed. Equal terms have equal numbers, so two ranges hold the same
// bytes if they have the same term and offset. A term of an element-wise function or of a sum has
// all elements that its operands have: element e of the term reads element e + delta of an operand.
// So each slice of a bucket has the term that the entire bucket has.
// A term is a function of a rank's coordinates, so ranks that compute the same have the same term.
//===----------------------------------------------------------------------===//

#ifndef CHECK_TERMS_H
#define CHECK_TERMS_H

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace zero::check {

using Term = uint32_t;
constexpr Term kNone = 0;      ///< no value, as in bytes that were never written
constexpr Term kZero = 1;      ///< bytes that are all 0
constexpr Term kMinusZero = 2; ///< float32 that are all -0
inline bool isZero(Term term) { return term == kZero || term == kMinusZero; }

enum class Kind : int64_t {
  Leaf,    ///< a named value: a state, an input, a constant
  Call,    ///< a call of a kernel, whose results are Result
  Result,  ///< what a call leaves in one of its arguments
  Element, ///< what an element-wise kernel leaves in one of its arguments
  Sum,     ///< of operands in order, rounded in one type and divided by a number
  Scale,   ///< the operand times a float32
  Over,    ///< the sum of the operand over ranks that differ along some axes only
  Select,  ///< the second operand if the byte of the first is 1, else the third
};

/// Bytes [offset, offset + size) of a term.
struct Slice {
  Term term = 0;
  int64_t offset = 0, size = 0;
  bool operator==(const Slice &) const = default;
  /// This from byte `by` on. All bytes of no value or of zeros are alike.
  Slice from(int64_t by) const { return {term, term > kMinusZero ? offset + by : 0, size - by}; }
};
using Slices = std::vector<Slice>;

/// An argument of a call: all bytes that it reads; or, of an element-wise function, `width` bytes
/// for each element, from the offset of the only slice on. Several slices are of a single element.
struct Operand {
  int64_t argument = 0, width = 0;
  Slices slices;
};

class Terms {
public:
  const bool upToOrder;

  /// With `upToOrder`, sums of the same operands in another order are equal.
  explicit Terms(bool upToOrder);

  /// A leaf that depends on the coordinates along `axes`, a set of bits.
  Term leaf(const std::string &name, uint32_t axes = 0);
  /// The value of a constant with these bytes.
  Term constant(const std::string &bytes);
  Term call(int64_t kernel, int64_t iterations, const std::vector<Operand> &operands);
  Term result(Term call, int64_t argument);
  /// The first byte of what an element-wise function gives for operands that begin at their slices.
  Slice element(int64_t kernel, int64_t argument, int64_t width, std::vector<Operand> operands);
  /// The same for a sum of `operands` of `width` bytes in the type `dtype`, with additions in
  /// `arithmetic`, divided by `divisor`.
  Slice sum(int64_t dtype, int64_t arithmetic, int64_t divisor, int64_t width,
            const Slices &operands);
  Slice scale(float factor, Slice operand);
  /// How ranks are added: over `axes` in order, those of a node first if `perNode` of them are one.
  struct Ranks {
    uint32_t axes = 0;
    int64_t perNode = 0;
  };
  Slice over(int64_t dtype, int64_t arithmetic, int64_t divisor, Ranks ranks, int64_t width,
             Slice operand);
  /// `yes` where the byte `condition` is 1, else `no`.
  Slice select(Slice condition, Slice yes, Slice no);
  /// `value`, or if that is selected by `condition` what it is when that is 1.
  Slice under(Slice condition, Slice value) const;

  /// `root` on the ranks whose coordinate along `axis` is `coordinate`.
  Term at(Term root, int axis, int64_t coordinate);
  /// The axes along which the coordinates of a rank matter, a set of bits.
  uint32_t axesOf(Term term) const { return axes[term]; }

  /// Whether the bytes of `term` have a value, whatever a condition decides.
  bool hasValue(Term term) const {
    return term != kNone && (kindOf(term) != Kind::Select || wordsOf(term)[19] != kNone);
  }

  Kind kindOf(Term term) const { return Kind(*wordsOf(term)); }
  /// The leaves that any of `values` depends on.
  std::set<Term> leavesOf(const Slices &values) const;
  const std::string &nameOf(Term leaf) const { return names[size_t(wordsOf(leaf)[1])]; }
  /// A description of `depth` levels. `kernelName` names kernels.
  std::string describe(Term term, const std::function<std::string(int64_t)> &kernelName,
                       int depth = 2) const;
  /// Where `found` first differs from `expected`: the innermost pair of different operands.
  std::pair<Term, Term> difference(Term found, Term expected) const;
  bool addsZeros = false; ///< whether a sum had an operand of zeros
  size_t size() const { return encodings.size() - 1; }

private:
  Term intern(const std::vector<int64_t> &encoded);
  const int64_t *wordsOf(Term term) const { return encodings[term]->data(); }
  /// Encodes an element-wise function from its operands' first element on.
  Slice stream(Kind kind, int64_t a, int64_t b, int64_t width, std::vector<Operand> operands);
  /// The operands of a sum, from where `sum` begins on.
  Slices summandsOf(Slice sum) const;
  void flatten(int64_t type, Slice operand, Slices &into) const;
  std::vector<Term> operandsOf(Term term) const;
  /// `term` with operands replaced.
  Term rebuild(Term term, const std::unordered_map<Term, Term> &replaced);

  struct Hash {
    size_t operator()(const std::vector<int64_t> &encoded) const;
  };
  std::unordered_map<std::vector<int64_t>, Term, Hash> numbers; ///< of terms by their words
  std::vector<const std::vector<int64_t> *> encodings;          ///< the words of each term
  std::vector<uint8_t> axes;                                    ///< of each term
  std::vector<std::string> names;
  std::unordered_map<std::string, int64_t> nameNumbers;
  std::map<std::pair<int, int64_t>, std::unordered_map<Term, Term>> instances; ///< by axis
};

} // namespace zero::check

#endif // CHECK_TERMS_H
