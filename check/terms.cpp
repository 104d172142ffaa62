//===- terms.cpp - what bytes hold ----------------------------------------===//
// Words of a term: kind, two numbers, number of operands; of each operand its argument, width and
// number of slices; of each slice its term, offset and size. Those of a streamed operand have size
// 0 and the offset of element 0.
//===----------------------------------------------------------------------===//

#include "check/terms.h"

#include "check/executable.h"

#include <algorithm>
#include <bit>

namespace zero::check {

Terms::Terms(bool upToOrder) : upToOrder(upToOrder), encodings{nullptr}, axes{0} {
  leaf("zeros");       // kZero
  leaf("minus zeros"); // kMinusZero
  encodings[kNone] = encodings[kZero];
}

size_t Terms::Hash::operator()(const std::vector<int64_t> &encoded) const {
  uint64_t hash = encoded.size();
  for (int64_t word : encoded) {
    hash = (hash ^ uint64_t(word)) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
  }
  return hash;
}

Term Terms::intern(const std::vector<int64_t> &encoded) {
  const auto [it, isNew] = numbers.emplace(encoded, Term(encodings.size()));
  const Term term = it->second;
  if (!isNew)
    return term;
  encodings.push_back(&it->first);
  uint32_t own = encoded[0] == int64_t(Kind::Leaf) ? uint32_t(encoded[2]) : 0;
  for (Term operand : operandsOf(term))
    own |= axes[operand];
  if (encoded[0] == int64_t(Kind::Over))
    own &= ~uint32_t(encoded[2] >> 16 & 0xff);
  axes.push_back(uint8_t(own));
  return term;
}

static std::vector<int64_t> encode(Kind kind, int64_t a, int64_t b,
                                   const std::vector<Operand> &operands) {
  std::vector<int64_t> encoded{int64_t(kind), a, b, int64_t(operands.size())};
  for (const auto &[argument, width, slices] : operands) {
    encoded.insert(encoded.end(), {argument, width, int64_t(slices.size())});
    for (const Slice &slice : slices)
      encoded.insert(encoded.end(), {int64_t(slice.term), slice.offset, slice.size});
  }
  return encoded;
}

Term Terms::leaf(const std::string &name, uint32_t axes) {
  auto [it, isNew] = nameNumbers.emplace(name, int64_t(names.size()));
  if (isNew)
    names.push_back(name);
  return intern({int64_t(Kind::Leaf), it->second, axes, 0});
}

Term Terms::constant(const std::string &bytes) {
  return bytes.find_first_not_of('\0') == std::string::npos ? kZero : leaf("constant " + bytes);
}

Term Terms::call(int64_t kernel, int64_t iterations, const std::vector<Operand> &operands) {
  return intern(encode(Kind::Call, kernel, iterations, operands));
}

Term Terms::result(Term call, int64_t argument) {
  return intern(encode(Kind::Result, argument, 0, {{0, 0, {{call, 0, 0}}}}));
}

static int64_t elementAt(int64_t offset, int64_t width) {
  return (offset - (offset % width + width) % width) / width;
}

/// Elements are counted from that of the operand which is least far into its term. So the term does
/// not depend on the slice.
Slice Terms::stream(Kind kind, int64_t a, int64_t b, int64_t width, std::vector<Operand> operands) {
  const bool isSingle = std::any_of(operands.begin(), operands.end(), [](const Operand &operand) {
    return operand.width > 0 && operand.slices.size() > 1;
  });
  int64_t first = INT64_MAX;
  for (const Operand &operand : operands)
    if (operand.width > 0 && operand.slices[0].term > kMinusZero)
      first = std::min(first, elementAt(operand.slices[0].offset, operand.width));
  if (isSingle || first == INT64_MAX)
    first = 0;
  for (Operand &operand : operands)
    if (operand.width > 0 && !isSingle) {
      if (operand.slices[0].term > kMinusZero)
        operand.slices[0].offset -= first * operand.width;
      operand.slices[0].size = 0;
    }
  return {intern(encode(kind, a, b, operands)), first * width, 0};
}

Slice Terms::element(int64_t kernel, int64_t argument, int64_t width,
                     std::vector<Operand> operands) {
  return stream(Kind::Element, kernel, argument, width, std::move(operands));
}

Slices Terms::summandsOf(Slice sum) const {
  Slices found;
  const int64_t *encoded = wordsOf(sum.term);
  for (const int64_t *operand = encoded + 4; operand < encoded + 4 + 6 * encoded[3]; operand += 6)
    found.push_back(Slice{Term(operand[3]), operand[4], 0}.from(sum.offset));
  return found;
}

/// Adds `operand`, or the operands of the sum that it is, to `into`. A sum that is the first
/// operand of another in the same type is added from left to right anyway; `all` is for any order.
void Terms::flatten(int64_t type, Slice operand, Slices &into) const {
  const int64_t *encoded = wordsOf(operand.term);
  const bool isPlain = encoded[0] == int64_t(Kind::Sum) && encoded[1] == type && encoded[2] == 1 &&
                       type >> 8 == (type & 0xff);
  if (isPlain && (into.empty() || upToOrder))
    for (const Slice &summand : summandsOf(operand))
      flatten(type, summand, into);
  else if (!isZero(operand.term))
    into.push_back(operand);
}

Slice Terms::sum(int64_t dtype, int64_t arithmetic, int64_t divisor, int64_t width,
                 const Slices &operands) {
  Slices flat;
  for (const Slice &operand : operands) {
    addsZeros |= isZero(operand.term);
    flatten(dtype << 8 | arithmetic, operand, flat);
  }
  if (flat.empty()) // of zeros: -0 if all are
    return {*std::min_element(operands.begin(), operands.end(),
                              [](const Slice &x, const Slice &y) { return x.term < y.term; })};
  if (flat.size() == 1 && divisor == 1)
    return flat[0];
  if (upToOrder)
    std::sort(flat.begin(), flat.end(), [](const Slice &a, const Slice &b) {
      return std::pair(a.term, a.offset) < std::pair(b.term, b.offset);
    });
  std::vector<Operand> streams;
  for (const Slice &operand : flat)
    streams.push_back({0, width, {operand}});
  return stream(Kind::Sum, dtype << 8 | arithmetic, divisor, width, std::move(streams));
}

Slice Terms::scale(float factor, Slice operand) {
  return factor == 1 || operand.term == kZero
             ? operand
             : stream(Kind::Scale, std::bit_cast<int32_t>(factor), 0, 4, {{0, 4, {operand}}});
}

/// In any order, a sum over ranks of sums, or of what is scaled, is a sum of those over ranks, and
/// one over some axes of one over others is one over all of them.
Slice Terms::over(int64_t dtype, int64_t arithmetic, int64_t divisor, Ranks ranks, int64_t width,
                  Slice operand) {
  if (isZero(operand.term))
    return operand;
  const int64_t type = dtype << 8 | arithmetic, *encoded = wordsOf(operand.term);
  const int64_t a = encoded[1], b = encoded[2];
  const Kind kind = upToOrder && dtype == arithmetic ? Kind(encoded[0]) : Kind::Leaf;
  if ((kind == Kind::Sum && a == type) || (kind == Kind::Scale && dtype == proto::F32)) {
    Slices sums;
    for (const Slice &summand : summandsOf(operand))
      sums.push_back(over(dtype, arithmetic, divisor, ranks, width, summand));
    return kind == Kind::Sum ? sum(dtype, arithmetic, b, width, sums)
                             : scale(std::bit_cast<float>(int32_t(a)), sums[0]);
  }
  if (upToOrder)
    ranks.perNode = 0;
  if (kind == Kind::Over && a == type && (b >> 16 & ranks.axes) == 0) {
    ranks.axes |= uint32_t(b >> 16 & 0xff);
    divisor *= b & 0xffff;
    operand = summandsOf(operand)[0];
  }
  return stream(Kind::Over, type, divisor | int64_t(ranks.axes) << 16 | ranks.perNode << 24, width,
                {{0, width, {operand}}});
}

Slice Terms::select(Slice condition, Slice yes, Slice no) {
  if (condition.term == kNone || (yes.term == no.term && yes.offset == no.offset))
    return yes;
  if (condition.term == kZero)
    return no;
  condition.size = 1;
  return stream(Kind::Select, 0, 0, 1, {{0, 0, {condition}}, {1, 1, {yes}}, {2, 1, {no}}});
}

Slice Terms::under(Slice condition, Slice value) const {
  const int64_t *encoded = wordsOf(value.term);
  if (value.term == kNone || encoded[0] != int64_t(Kind::Select) ||
      Term(encoded[7]) != condition.term || encoded[8] != condition.offset)
    return value;
  Slice yes = Slice{Term(encoded[13]), encoded[14], 0}.from(value.offset);
  yes.size = value.size;
  return yes;
}

std::vector<Term> Terms::operandsOf(Term term) const {
  std::vector<Term> found;
  const int64_t *at = wordsOf(term);
  int64_t operands = at[3];
  for (at += 4; operands > 0; --operands) {
    const int64_t slices = at[2];
    at += 3;
    for (int64_t i = 0; i < slices; ++i, at += 3)
      found.push_back(Term(at[0]));
  }
  return found;
}

/// Sums are made again, as their operands may be in another order then.
Term Terms::rebuild(Term term, const std::unordered_map<Term, Term> &replaced) {
  std::vector<int64_t> encoded = *encodings[term];
  Slices slices;
  size_t at = 4, width = 0;
  for (int64_t operands = encoded[3]; operands > 0; --operands) {
    const int64_t count = encoded[at + 2];
    width = size_t(encoded[at + 1]);
    at += 3;
    for (int64_t i = 0; i < count; ++i, at += 3) {
      encoded[at] = replaced.at(Term(encoded[at]));
      slices.push_back({Term(encoded[at]), encoded[at + 1], 0});
    }
  }
  if (Kind(encoded[0]) == Kind::Sum)
    return sum(encoded[1] >> 8, encoded[1] & 0xff, encoded[2], int64_t(width), slices).term;
  return intern(encoded);
}

/// A sum over the axis does not depend on it, and is left as it is.
Term Terms::at(Term root, int axis, int64_t coordinate) {
  std::unordered_map<Term, Term> &known = instances[{axis, coordinate}];
  std::vector<Term> work{root};
  while (!work.empty()) {
    const Term term = work.back();
    if (known.count(term)) {
      work.pop_back();
    } else if (!(axes[term] >> axis & 1)) {
      known[term] = term;
    } else if (kindOf(term) == Kind::Leaf) {
      known[term] =
          leaf(nameOf(term) + ", axis " + std::to_string(axis) + ": " + std::to_string(coordinate),
               axes[term] & ~(1u << axis));
    } else {
      const size_t before = work.size();
      for (Term operand : operandsOf(term))
        if (!known.count(operand))
          work.push_back(operand);
      if (work.size() == before)
        known[term] = rebuild(term, known);
    }
  }
  return known.at(root);
}

std::set<Term> Terms::leavesOf(const Slices &values) const {
  std::set<Term> leaves;
  std::vector<bool> seen(encodings.size());
  std::vector<Term> work;
  for (const Slice &value : values)
    work.push_back(value.term);
  while (!work.empty()) {
    const Term term = work.back();
    work.pop_back();
    if (term == 0 || seen[term])
      continue;
    seen[term] = true;
    if (kindOf(term) == Kind::Leaf)
      leaves.insert(term);
    for (Term operand : operandsOf(term))
      work.push_back(operand);
  }
  return leaves;
}

std::pair<Term, Term> Terms::difference(Term found, Term expected) const {
  while (found != kNone && expected != kNone) {
    const std::vector<Term> some = operandsOf(found), others = operandsOf(expected);
    auto [it, other] = std::mismatch(some.begin(), some.end(), others.begin(), others.end());
    const int64_t *header = wordsOf(found);
    if (!std::equal(header, header + 4, wordsOf(expected)) || it == some.end() ||
        other == others.end())
      break;
    found = *it;
    expected = *other;
  }
  return {found, expected};
}

std::string Terms::describe(Term term, const std::function<std::string(int64_t)> &kernelName,
                            int depth) const {
  if (term == kNone)
    return "no value";
  const int64_t *encoded = wordsOf(term);
  const std::vector<Term> operands = operandsOf(term);
  std::string text;
  switch (Kind(encoded[0])) {
  case Kind::Leaf: // the name of a constant has its bytes
    return nameOf(term).starts_with("constant ")
               ? "a constant of " + std::to_string(nameOf(term).size() - 9) + " bytes"
               : nameOf(term);
  case Kind::Result:
    text = "argument " + std::to_string(encoded[1]) + " of ";
    return text + describe(operands[0], kernelName, depth);
  case Kind::Element:
    text = "argument " + std::to_string(encoded[2]) + " of ";
    [[fallthrough]];
  case Kind::Call:
    text += kernelName(encoded[1]);
    break;
  case Kind::Scale:
    text = std::to_string(std::bit_cast<float>(int32_t(encoded[1]))) + " times";
    break;
  case Kind::Select:
    text = "if";
    break;
  default:
    text = (encoded[2] & 0xffff) == 1 ? "sum" : "mean";
    text += Kind(encoded[0]) == Kind::Over ? " over ranks" : "";
  }
  std::string list;
  for (size_t i = 0; i < operands.size() && depth > 0 && list.size() < 400; ++i)
    list += (i == 0 ? "" : ", ") + describe(operands[i], kernelName, depth - 1);
  return text + "(" + (depth > 0 ? list : "..") + ")";
}

} // namespace zero::check
