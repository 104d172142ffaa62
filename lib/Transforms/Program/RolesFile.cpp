//===- RolesFile.cpp - names and roles of a program's arguments -----------===//

#include "RolesFile.h"

#include "runtime/support/json_reader.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

namespace json = llvm::json;
using llvm::StringRef;

namespace zero {

/// No such file has more than some hundred bytes for each argument.
static constexpr uint64_t kMostBytes = uint64_t(64) << 20;

static bool fromJSON(const json::Value &value, ListedArgument &argument, json::Path path) {
  json::ObjectMapper map(value, path);
  std::optional<std::vector<int64_t>> shape;
  if (!map || !map.map("name", argument.name) || !map.mapOptional("target", argument.target) ||
      !map.mapOptional("role", argument.role) || !map.mapOptional("shape", shape))
    return false;
  if (shape)
    argument.shape.emplace(shape->begin(), shape->end());
  // Exporters give data its own name as target.
  if (argument.target == argument.name)
    argument.target.clear();
  if (argument.role.empty() || argument.role == "parameter" || argument.role == "buffer" ||
      argument.role == "data")
    return true;
  path.field("role").report("expected parameter, buffer or data");
  return false;
}

static bool fromJSON(const json::Value &value, RolesFile &file, json::Path path) {
  if (value.getAsArray())
    return json::fromJSON(value, file.arguments, path);
  json::ObjectMapper map(value, path);
  std::map<std::string, std::string> gradients;
  if (!map || !map.map("args", file.arguments) || !map.mapOptional("outputs", file.results) ||
      !map.mapOptional("grad_of", gradients) || !map.mapOptional("loss", file.loss))
    return false;
  for (auto &[result, target] : gradients)
    file.gradientOf[result] = target;
  return true;
}

llvm::Expected<RolesFile> RolesFile::read(StringRef path) {
  auto fail = [&](const llvm::Twine &text) {
    return llvm::createStringError("'" + path + "': " + text);
  };
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return fail("cannot read it: " + buffer.getError().message());
  if ((*buffer)->getBufferSize() > kMostBytes)
    return fail("expected a JSON file of at most 64 MiB");
  if (!rt::isShallowJson((*buffer)->getBuffer())) // the parser calls itself for each level
    return fail("expected at most " + llvm::Twine(rt::JsonReader::kDeepest) + " levels of nesting");
  llvm::Expected<json::Value> value = json::parse((*buffer)->getBuffer());
  if (!value)
    return fail("expected JSON: " + llvm::toString(value.takeError()));
  RolesFile file;
  json::Path::Root root("the file");
  if (!fromJSON(*value, file, root))
    return fail(llvm::toString(root.getError()));
  return file;
}

} // namespace zero
