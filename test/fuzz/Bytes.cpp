//===- Bytes.cpp - mutates plain bytes and text ---------------------------===//

#include "Bytes.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <vector>

namespace zero::fuzz {

int64_t hostileInt(Random &random) {
  static constexpr int64_t edges[] = {0,
                                      1,
                                      -1,
                                      2,
                                      -2,
                                      3,
                                      7,
                                      64,
                                      255,
                                      65536,
                                      1 << 20,
                                      1 << 24,
                                      std::numeric_limits<int32_t>::max(),
                                      std::numeric_limits<int32_t>::min(),
                                      int64_t(1) << 32,
                                      int64_t(1) << 40,
                                      int64_t(1) << 61,
                                      std::numeric_limits<int64_t>::max(),
                                      std::numeric_limits<int64_t>::max() - 1,
                                      std::numeric_limits<int64_t>::min(),
                                      std::numeric_limits<int64_t>::min() + 1};
  if (random.oneIn(2))
    return random.pick(edges);
  if (random.oneIn(8))
    return static_cast<int64_t>(random.next());
  return static_cast<int64_t>(random.below(12)) - 4;
}

double hostileFloat(Random &random) {
  using Limits = std::numeric_limits<double>;
  static const double edges[] = {0.0,
                                 -0.0,
                                 1.0,
                                 -1.0,
                                 0.5,
                                 1e-45,
                                 3.4e38,
                                 -3.4e38,
                                 1e300,
                                 Limits::infinity(),
                                 -Limits::infinity(),
                                 Limits::quiet_NaN()};
  return random.pick(edges);
}

/// A range of `bytes` that is usually short.
static std::pair<size_t, size_t> someRange(const std::string &bytes, Random &random) {
  const size_t start = random.below(bytes.size());
  const size_t most = random.oneIn(4) ? bytes.size() : 16;
  return {start, std::min(bytes.size() - start, 1 + random.below(most))};
}

static void overwriteNumber(std::string &bytes, Random &random) {
  const size_t width = size_t(1) << random.below(4);
  if (bytes.size() < width)
    return;
  const int64_t value = hostileInt(random);
  std::memcpy(bytes.data() + random.below(bytes.size() - width + 1), &value, width);
}

static void mutateOnce(std::string &bytes, Random &random) {
  const size_t at = random.below(bytes.size());
  auto [start, length] = someRange(bytes, random);
  switch (bytes.empty() ? 4 : random.below(8)) {
  case 0:
    bytes[at] ^= static_cast<char>(1 << random.below(8));
    break;
  case 1:
    bytes[at] = static_cast<char>(random.next());
    break;
  case 2:
    overwriteNumber(bytes, random);
    break;
  case 3:
    bytes.resize(at);
    break;
  case 4:
    bytes.insert(at, 1 + random.below(9), static_cast<char>(random.next()));
    break;
  case 5:
    bytes.erase(start, length);
    break;
  case 6:
    bytes.insert(at, bytes.substr(start, length));
    break;
  case 7:
    std::memmove(bytes.data() + std::min(at, bytes.size() - length), bytes.data() + start, length);
    break;
  }
}

void mutateBytes(std::string &bytes, Random &random) {
  for (size_t i = 0, count = 1 + random.below(4); i < count; ++i)
    mutateOnce(bytes, random);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Splits into words, numbers, and single other characters.
static std::vector<std::string> tokensOf(const std::string &text) {
  std::vector<std::string> tokens;
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (char c : text) {
    if (!tokens.empty() && isWord(c) && isWord(tokens.back().back()))
      tokens.back() += c;
    else
      tokens.emplace_back(1, c);
  }
  return tokens;
}

static bool isNumber(const std::string &token) {
  return std::isdigit(static_cast<unsigned char>(token[0])) != 0;
}

static void mutateToken(std::vector<std::string> &tokens, Random &random) {
  size_t at = random.below(tokens.size());
  // Mutations of spaces find little.
  for (size_t i = 0; i < 8 && std::isspace(static_cast<unsigned char>(tokens[at][0])); ++i)
    at = random.below(tokens.size());
  const auto begin = tokens.begin() + static_cast<ptrdiff_t>(at);
  if (isNumber(tokens[at]) && !random.oneIn(4)) {
    tokens[at] = std::to_string(hostileInt(random));
    return;
  }
  const size_t length = std::min(tokens.size() - at, 1 + random.below(6));
  switch (random.below(4)) {
  case 0:
    tokens[at] = tokens[random.below(tokens.size())];
    break;
  case 1:
    tokens.erase(begin, begin + static_cast<ptrdiff_t>(length));
    break;
  case 2:
    std::swap(tokens[at], tokens[random.below(tokens.size())]);
    break;
  case 3: {
    std::vector<std::string> copy(begin, begin + static_cast<ptrdiff_t>(length));
    const auto to = tokens.begin() + static_cast<ptrdiff_t>(random.below(tokens.size()));
    tokens.insert(to, copy.begin(), copy.end());
    break;
  }
  }
}

/// Drops or repeats one line, or moves it to another place.
static void mutateLine(std::string &text, Random &random) {
  const size_t at = text.rfind('\n', random.below(text.size()));
  const size_t start = at == std::string::npos ? 0 : at + 1;
  const size_t length = std::min(text.size(), text.find('\n', start)) - start + 1;
  const std::string line = text.substr(start, length);
  const size_t kind = random.below(3);
  if (kind != 1)
    text.erase(start, length);
  if (kind == 0)
    return;
  const size_t target = text.find('\n', random.below(text.size()));
  text.insert(target == std::string::npos ? text.size() : target + 1, line);
}

void mutateText(std::string &text, Random &random) {
  if (text.empty() || random.oneIn(10))
    return mutateBytes(text, random);
  if (random.oneIn(4))
    return mutateLine(text, random);
  std::vector<std::string> tokens = tokensOf(text);
  for (size_t i = 0, count = 1 + random.below(3); i < count && !tokens.empty(); ++i)
    mutateToken(tokens, random);
  text.clear();
  for (const std::string &token : tokens)
    text += token;
}

} // namespace zero::fuzz
