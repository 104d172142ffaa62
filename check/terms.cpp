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

Term Terms::leaf(const std::string &name) {
  auto [it, isNew] = nameNumbers.emplace(name, int64_t(names.size()));
  if (isNew)
    names.push_back(name);
  return intern({int64_t(Kind::Leaf), it->second, 0, 0});
}

Term Terms::call(int64_t kernel, int64_t iterations, const std::vector<Operand> &operands) {
  return intern(encode(Kind::Call, kernel, iterations, operands));
}

Term Terms::result(Term call, int64_t argument) {
  return intern(encode(Kind::Result, argument, 0, {{0, 0, {{call, 0, 0}}}}));
}

//===----------------------------------------------------------------------===//
// Element-wise functions
//===----------------------------------------------------------------------===//

static int64_t elementAt(int64_t offset, int64_t width) {
  return (offset - (offset % width + width) % width) / width;
}

/// Elements are counted from that of the operand which is least far into its term. So the term does
/// not depend on the slice.
Slice Terms::stream(Kind kind, int64_t a, int64_t b, int64_t width, std::vector<Operand> operands) {
  int64_t first = INT64_MAX;
  for (const Operand &operand : operands)
    if (operand.width > 0)
      first = std::min(first, elementAt(operand.slices[0].offset, operand.width));
  for (Operand &operand : operands)
    if (operand.width > 0) {
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
    into.push_back(operand);
    return;
  }
  for (int64_t i = 0; i < encoded[3]; ++i) {
    const int64_t *slice = encoded + 4 + 6 * i + 3;
    flatten(dtype, {Term(slice[0]), slice[1] + operand.offset, 0}, width, all, into);
  }
}

Slice Terms::sum(int64_t dtype, int64_t arithmetic, int64_t divisor, int64_t width,
                 const Slices &operands) {
  Slices flat;
  for (const Slice &operand : operands)
    if (dtype == arithmetic)
      flatten(dtype, operand, width, upToOrder, flat);
    else
      flat.push_back(operand);
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
  return factor == 1 ? operand : stream(Kind::Scale, bits, 0, 4, {{0, 4, {operand}}});
}

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

void Terms::forEachOperand(Term term, const std::function<void(Term)> &body) const {
  const int64_t *at = &words[begins[term]];
  int64_t operands = at[3];
  at += 4;
  for (; operands > 0; --operands) {
    const int64_t slices = at[2];
    at += 3;
    for (int64_t i = 0; i < slices; ++i, at += 3)
      body(Term(at[0]));
  }
}

std::vector<Term> Terms::operandsOf(Term term) const {
  std::vector<Term> found;
  forEachOperand(term, [&](Term operand) { found.push_back(operand); });
  return found;
}

/// A term with other operands. Sums are made again, as their operands may be in another order then.
Term Terms::renameOperands(Term term, const Renaming &renamed) {
  std::vector<int64_t> encoded(&words[begins[term]],
                               &words[begins[term]] + (begins[term + 1] - begins[term]));
  Slices slices;
  size_t at = 4, width = 0;
  for (int64_t operands = encoded[3]; operands > 0; --operands) {
    const int64_t count = encoded[at + 2];
    width = size_t(encoded[at + 1]);
    at += 3;
    for (int64_t i = 0; i < count; ++i, at += 3) {
      encoded[at] = renamed.at(Term(encoded[at]));
      slices.push_back({Term(encoded[at]), encoded[at + 1], 0});
    }
  }
  if (Kind(encoded[0]) == Kind::Sum)
    return sum(encoded[1] >> 8, encoded[1] & 0xff, encoded[2], int64_t(width), slices).term;
  return intern(encoded);
}

Term Terms::rename(Term root, const std::string &from, const std::string &to, Renaming &renamed) {
  std::vector<Term> work{root};
  while (!work.empty()) {
    const Term term = work.back();
    if (renamed.count(term)) {
      work.pop_back();
      continue;
    }
    if (kindOf(term) == Kind::Leaf) {
      const std::string name = nameOf(term);
      const size_t rest = name.size() - std::min(name.size(), from.size());
      renamed[term] =
          name.compare(rest, from.size(), from) == 0 ? leaf(name.substr(0, rest) + to) : term;
      continue;
    }
    const size_t before = work.size();
    forEachOperand(term, [&](Term operand) {
      if (!renamed.count(operand))
        work.push_back(operand);
    });
    if (work.size() == before)
      renamed[term] = renameOperands(term, renamed);
  }
  return renamed.at(root);
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
    forEachOperand(term, [&](Term operand) { work.push_back(operand); });
  }
  return leaves;
}

std::pair<Term, Term> Terms::difference(Term found, Term expected) const {
  while (found != 0 && expected != 0) {
    const std::vector<Term> some = operandsOf(found), others = operandsOf(expected);
    auto header = [&](Term term) {
      return std::vector(&words[begins[term]], &words[begins[term]] + 4);
    };
    if (header(found) != header(expected) || some.size() != others.size())
      break;
    auto [it, other] = std::mismatch(some.begin(), some.end(), others.begin());
    if (it == some.end())
      break;
    found = *it;
    expected = *other;
  }
  return {found, expected};
}

/// Names of constants contain their bytes.
static std::string printable(const std::string &name) {
  std::string text;
  for (char byte : name.substr(0, 100)) {
    char code[8];
    std::snprintf(code, sizeof(code), byte >= ' ' && byte <= '~' ? "%c" : "\\x%02x",
                  byte >= ' ' && byte <= '~' ? byte : uint8_t(byte));
    text += code;
  }
  return text + (name.size() > 100 ? ".." : "");
}

std::string Terms::describe(Term term, const std::function<std::string(int64_t)> &kernelName,
                            int depth) const {
  if (term == 0)
    return "no value";
  const int64_t *encoded = &words[begins[term]];
  std::string text;
  switch (Kind(encoded[0])) {
  case Kind::Leaf:
    return printable(nameOf(term));
  case Kind::Result:
    return "argument " + std::to_string(encoded[1]) + " of " +
           describe(operandsOf(term)[0], kernelName, depth);
  case Kind::Call:
    text = kernelName(encoded[1]);
    break;
  case Kind::Element:
    text = "argument " + std::to_string(encoded[2]) + " of " + kernelName(encoded[1]);
    break;
  case Kind::Sum:
    text = encoded[2] == 1 ? "sum" : "mean over " + std::to_string(encoded[2]);
    break;
  case Kind::Scale: {
    float factor;
    const int32_t bits = int32_t(encoded[1]);
    std::memcpy(&factor, &bits, sizeof(factor));
    text = std::to_string(factor) + " times";
  }
  }
  if (depth == 0)
    return text + "(..)";
  std::string list;
  for (Term operand : operandsOf(term))
    if (list.size() < 400)
      list += (list.empty() ? "" : ", ") + describe(operand, kernelName, depth - 1);
  return text + "(" + list + ")";
}

} // namespace zero::check
