//===- Registry.cpp - the table of front ends -----------------------------===//

#include "zero/Frontends/Frontend.h"
#include "zero/Options/Words.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace zero {

// ZERO_FRONTENDS(X): X(NAME) for each folder; written by CMake.
#include "zero/Frontends/Folders.inc"

#define DECLARE(name) void register##name##Frontend();
ZERO_FRONTENDS(DECLARE)
#undef DECLARE

/// The number of leading bytes by which a front end recognizes its files.
static constexpr size_t kHeadBytes = 4096;

static std::vector<Frontend> &table() {
  static std::vector<Frontend> frontends;
  return frontends;
}

void registerFrontend(Frontend frontend) { table().push_back(std::move(frontend)); }

ArrayRef<Frontend> allFrontends() {
  static const bool filled = [] {
#define CALL(name) register##name##Frontend();
    ZERO_FRONTENDS(CALL)
#undef CALL
    llvm::sort(table(), [](const Frontend &a, const Frontend &b) { return a.name < b.name; });
    return true;
  }();
  (void)filled;
  return table();
}

bool Frontend::hasFlag(StringRef flag) const {
  return llvm::any_of(flags, [&](const FrontendFlag &own) { return own.name == flag; });
}

bool isFrontendFlag(StringRef name) {
  return llvm::any_of(allFrontends(),
                      [&](const Frontend &frontend) { return frontend.hasFlag(name); });
}

/// The first bytes of a file, or why there are none. A pipe cannot be read twice: it is taken for
/// the text of a module.
static llvm::ErrorOr<std::string> readHead(StringRef path) {
  static const std::string text = "module";
  llvm::sys::fs::file_status status;
  if (path == "-")
    return text;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return error;
  if (status.type() == llvm::sys::fs::file_type::directory_file)
    return std::make_error_code(std::errc::is_a_directory);
  if (status.type() != llvm::sys::fs::file_type::regular_file)
    return text;
  llvm::Expected<llvm::sys::fs::file_t> file = llvm::sys::fs::openNativeFileForRead(path);
  if (!file)
    return llvm::errorToErrorCode(file.takeError());
  std::string head(kHeadBytes, '\0');
  llvm::Expected<size_t> size =
      llvm::sys::fs::readNativeFile(*file, MutableArrayRef<char>(head.data(), head.size()));
  (void)llvm::sys::fs::closeFile(*file);
  if (!size)
    return llvm::errorToErrorCode(size.takeError());
  head.resize(*size);
  return head;
}

std::string modelFile(StringRef path) {
  if (path == "-" || !llvm::sys::fs::is_directory(path))
    return path.str();
  for (const Frontend &frontend : allFrontends())
    if (!frontend.fileInFolder.empty()) {
      SmallString<128> file(path);
      llvm::sys::path::append(file, frontend.fileInFolder);
      if (llvm::sys::fs::exists(file))
        return std::string(file);
    }
  return path.str();
}

const Frontend *findFrontend(StringRef path) {
  llvm::ErrorOr<std::string> head = readHead(path);
  for (const Frontend &frontend : allFrontends())
    if (head && frontend.recognises(*head))
      return &frontend;
  for (const Frontend &frontend : allFrontends())
    if (path.ends_with(frontend.suffix))
      return &frontend;
  return nullptr;
}

/// "mlir (MLIR, ...) or onnx (an ONNX model: ...)".
static std::string listFrontends() {
  auto texts = llvm::map_to_vector(allFrontends(), [](const Frontend &frontend) {
    return (frontend.name + " (" + frontend.summary + ")").str();
  });
  return listWords(texts);
}

/// Names the front ends that have `flag`.
static std::string ownersOf(StringRef flag) {
  SmallVector<StringRef> owners;
  for (const Frontend &frontend : allFrontends())
    if (frontend.hasFlag(flag))
      owners.push_back(frontend.name);
  return listWords(owners);
}

OwningOpRef<ModuleOp> readModel(const FrontendInput &input, MLIRContext &context) {
  auto fail = [&]() { return emitError(FileLineColLoc::get(&context, input.path, 0, 0)); };
  const Frontend *frontend = findFrontend(input.path);
  if (!frontend) {
    if (llvm::sys::fs::is_directory(input.path))
      fail() << "cannot read the model: the folder has no config.json";
    else if (llvm::ErrorOr<std::string> head = readHead(input.path); !head)
      fail() << "cannot read the model: " << head.getError().message();
    else
      fail() << "expected a model in a supported format: " << listFrontends()
             << "; got a file in none of them";
    return nullptr;
  }
  for (StringRef flag : input.flags.keys())
    if (!frontend->hasFlag(flag)) {
      fail() << "--" << flag << " has no effect on this model, which is read as " << frontend->name
             << "; it is a flag of " << ownersOf(flag);
      return nullptr;
    }
  return frontend->read(input, context);
}

} // namespace zero
