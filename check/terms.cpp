//===- terms.cpp - what bytes hold ----------------------------------------===//
// Words of a term: kind, two numbers, number of operands; of each operand its argument, width and
// number of slices; of each slice its term, offset and size. Those of a streamed operand have size
// 0 and the offset of element 0.
//===----------------------------------------------------------------------===//

#include "check/terms.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace zero::check {

Terms::Terms(bool upToOrder) : upToOrder(upToOrder), begins{0, 0}, hashes{0}, axes{0} {
  leaf("zeros");       // kZero
  leaf("minus zeros"); // kMinusZero
}

static uint64_t hashOf(const std::vector<int64_t> &encoded) {
  uint64_t hash = encoded.size();
  for (int64_t word : encoded) {
    hash = (hash ^ uint64_t(word)) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
  }
  return hash;
}

void Terms::growTable() {
  table.assign(std::max<size_t>(1024, 2 * table.size()), 0);
  for (Term term = 1; term < hashes.size(); ++term) {
    size_t place = hashes[term] % table.size();
    while (table[place] != 0)
      place = (place + 1) % table.size();
    table[place] = term;
  }
}

Term Terms::intern(const std::vector<int64_t> &encoded) {
  if (2 * hashes.size() >= table.size())
    growTable();
  const uint64_t hash = hashOf(encoded);
  size_t place = hash % table.size();
  for (; table[place] != 0; place = (place + 1) % table.size()) {
    const Term term = table[place];
    const size_t first = begins[term], size = begins[term + 1] - first;
    if (hashes[term] == hash && size == encoded.size() &&
        std::equal(encoded.begin(), encoded.end(), &words[first]))
      return term;
  }
  const Term term = table[place] = Term(hashes.size());
  words.insert(words.end(), encoded.begin(), encoded.end());
  begins.push_back(words.size());
  hashes.push_back(hash);
  uint32_t own = encoded[0] == int64_t(Kind::Leaf) ? uint32_t(encoded[2]) : 0;
  for (Term operand : operandsOf(term))
    own |= axes[operand];
  if (encoded[0] == int64_t(Kind::Over))
    own &= ~uint32_t(encoded[2] >> 16 & 0xff);
  axes.push_back(uint8_t(own));
  return term;
}

static void append(std::vector<int64_t> &encoded, const Operand &operand) {
  encoded.insert(encoded.end(), {operand.argument, operand.width, int64_t(operand.slices.size())});
  for (const Slice &slice : operand.slices)
    encoded.insert(encoded.end(), {int64_t(slice.term), slice.offset, slice.size});
}

static std::vector<int64_t> encode(Kind kind, int64_t a, int64_t b,
                                   const std::vector<Operand> &operands) {
  std::vector<int64_t> encoded{int64_t(kind), a, b, int64_t(operands.size())};
  for (const Operand &operand : operands)
    append(encoded, operand);
  return encoded;
}

Term Terms::leaf(const std::string &name, uint32_t axes) {
  auto [it, isNew] = nameNumbers.emplace(name, int64_t(names.size()));
  if (isNew)
    names.push_back(name);
  return intern({int64_t(Kind::Leaf), it->second, axes, 0});
}

Term Terms::constant(const std::string &bytes) {
  const bool isZero = bytes.find_first_not_of('\0') == std::string::npos;
  return isZero ? kZero : leaf("constant " + bytes);
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

/// Adds `operand`, or the operands of the sum that it is, to `into`. A sum that is the first
/// operand of another in the same type is added from left to right anyway; `all` is for any order.
void Terms::flatten(int64_t dtype, Slice operand, int64_t width, bool all, Slices &into) const {
  const int64_t *encoded = &words[begins[operand.term]];
  const bool isPlain =
      encoded[0] == int64_t(Kind::Sum) && encoded[1] == (dtype << 8 | dtype) && encoded[2] == 1;
  if (!isPlain || (!into.empty() && !all)) {
    if (!isZero(operand.term))
      into.push_back(operand);
    return;
  }
  for (int64_t i = 0; i < encoded[3]; ++i) {
    const int64_t *slice = encoded + 4 + 6 * i + 3;
    flatten(dtype, Slice{Term(slice[0]), slice[1], 0}.from(operand.offset), width, all, into);
  }
}

Slice Terms::sum(int64_t dtype, int64_t arithmetic, int64_t divisor, int64_t width,
                 const Slices &operands) {
  Slices flat;
  for (const Slice &operand : operands) {
    addsZeros |= isZero(operand.term);
    if (dtype == arithmetic)
      flatten(dtype, operand, width, upToOrder, flat);
    else if (!isZero(operand.term))
      flat.push_back(operand);
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
  int32_t bits;
  std::memcpy(&bits, &factor, sizeof(bits));
  return factor == 1 || operand.term == kZero
             ? operand
             : stream(Kind::Scale, bits, 0, 4, {{0, 4, {operand}}});
}

bool Terms::hasValue(Term term) const {
  return term != kNone && (kindOf(term) != Kind::Select || words[begins[term] + 19] != kNone);
}

Slice Terms::over(int64_t dtype, int64_t arithmetic, int64_t divisor, Ranks ranks, int64_t width,
                  Slice operand) {
  return isZero(operand.term) ? operand
                              : stream(Kind::Over, dtype << 8 | arithmetic,
                                       divisor | int64_t(ranks.axes) << 16 | ranks.perNode << 24,
                                       width, {{0, width, {operand}}});
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
  const int64_t *encoded = &words[begins[value.term]];
  if (value.term == kNone || encoded[0] != int64_t(Kind::Select) ||
      Term(encoded[7]) != condition.term || encoded[8] != condition.offset)
    return value;
  Slice yes = Slice{Term(encoded[13]), encoded[14], 0}.from(value.offset);
  yes.size = value.size;
  return yes;
}

std::vector<Term> Terms::operandsOf(Term term) const {
  std::vector<Term> found;
  const int64_t *at = &words[begins[term]];
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
  std::vector<int64_t> encoded(words.begin() + int64_t(begins[term]),
                               words.begin() + int64_t(begins[term + 1]));
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

std::set<Term> Terms::leavesOf(const std::vector<Term> &roots) const {
  std::set<Term> leaves;
  std::vector<bool> seen(begins.size());
  std::vector<Term> work = roots;
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
    const int64_t *header = &words[begins[found]];
    if (!std::equal(header, header + 4, &words[begins[expected]]) || it == some.end() ||
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
  const int64_t *encoded = &words[begins[term]];
  const std::vector<Term> operands = operandsOf(term);
  const int32_t bits = int32_t(encoded[1]);
  float factor;
  std::memcpy(&factor, &bits, sizeof(factor));
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
    text = std::to_string(factor) + " times";
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
