//===- ShardyText.cpp - attributes of Shardy as text ----------------------===//

#include "ShardyText.h"

#include "llvm/ADT/STLFunctionalExtras.h"

using namespace llvm;

namespace zero {

namespace {
/// Reads tokens from the front of a text. Functions return whether they are there.
class Scanner {
public:
  explicit Scanner(StringRef text) : rest(text) {}

  bool eat(StringRef token) { return (rest = rest.ltrim()).consume_front(token); }
  bool startsWith(StringRef token) { return (rest = rest.ltrim()).starts_with(token); }
  bool number(int64_t &value) { return !(rest = rest.ltrim()).consumeInteger(10, value); }
  bool quoted(StringRef &name) {
    if (!eat("\""))
      return false;
    const size_t end = rest.find('"');
    name = rest.take_front(end);
    rest = rest.substr(end).drop_front(end != StringRef::npos);
    return end != StringRef::npos;
  }
  /// `open`, items that commas separate, and `close`.
  bool list(StringRef open, StringRef close, function_ref<bool()> item) {
    if (!eat(open))
      return false;
    if (eat(close))
      return true;
    do {
      if (!item())
        return false;
    } while (eat(","));
    return eat(close);
  }
  /// Everything before `end`.
  StringRef until(StringRef end) {
    const size_t size = std::min(rest.find(end), rest.size());
    StringRef text = rest.take_front(size).trim();
    rest = rest.drop_front(size);
    return text;
  }

private:
  StringRef rest;
};
} // namespace

/// `{"x", "y":(1)2, ?}p1`: the axes of one dimension.
static bool parseDimension(Scanner &scanner, ShardySharding &sharding) {
  SmallVector<StringRef> &axes = sharding.dims.emplace_back();
  auto parseAxis = [&] {
    if (scanner.eat("?")) // open: the propagation may add axes
      return true;
    int64_t before = 0, size = 0;
    if (!scanner.quoted(axes.emplace_back()))
      return false;
    if (!scanner.eat(":"))
      return true;
    sharding.hasSubAxis = true;
    return scanner.eat("(") && scanner.number(before) && scanner.eat(")") && scanner.number(size);
  };
  if (!scanner.list("{", "}", parseAxis))
    return false;
  int64_t priority = 0;
  return !scanner.eat("p") || scanner.number(priority);
}

std::optional<ShardySharding> parseShardySharding(StringRef text) {
  Scanner scanner(text);
  ShardySharding sharding;
  if (!scanner.eat("sharding<"))
    return std::nullopt;
  const bool isInPlace = scanner.startsWith("mesh<");
  sharding.mesh = scanner.until(isInPlace ? ">" : ",");
  if ((isInPlace && !scanner.eat(">")) || !scanner.eat(",") ||
      !scanner.list("[", "]", [&] { return parseDimension(scanner, sharding); }))
    return std::nullopt;
  // What follows names axes along which the tensor is whole, and axes along which it is a sum.
  sharding.isUnreduced = scanner.until(">").contains("unreduced");
  return scanner.eat(">") ? std::optional(sharding) : std::nullopt;
}

std::optional<ShardyMesh> parseShardyMesh(StringRef text) {
  Scanner scanner(text);
  ShardyMesh mesh;
  auto parseAxis = [&] {
    auto &[name, size] = mesh.emplace_back();
    return scanner.quoted(name) && scanner.eat("=") && scanner.number(size) && size >= 1;
  };
  // Numbers of devices may follow; which rank a device is does not matter.
  if (!scanner.eat("mesh<") || !scanner.list("[", "]", parseAxis))
    return std::nullopt;
  return mesh;
}

} // namespace zero
