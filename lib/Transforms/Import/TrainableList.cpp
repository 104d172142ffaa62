//===- TrainableList.cpp - read the file of --trainable -------------------===//

#include "TrainableList.h"

#include "SelectParameters.h"
#include "dialects/Zero/ExporterAttrs.h"
#include "dialects/Zero/Findings.h"
#include "zero/Transforms/Import/NamePatterns.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace zero {

namespace {
class Marker {
public:
  Marker(ModuleOp module, std::vector<Candidate> &candidates)
      : module(module), candidates(candidates) {
    for (Candidate &candidate : candidates)
      for (StringRef name : candidate.names)
        byName[name] = &candidate;
    if (auto names = module->getAttrOfType<ArrayAttr>(kAbsentParametersAttr))
      for (StringRef name : names.getAsValueRange<StringAttr>())
        absent.insert(name);
  }

  LogicalResult run(ArrayRef<std::string> lines, bool verbose);

private:
  std::string enter(StringRef line);
  std::string enterName(Candidate &candidate);
  std::string enterPattern(StringRef line);
  std::string remedyFor(StringRef line) const;

  ModuleOp module;
  std::vector<Candidate> &candidates;
  llvm::StringMap<Candidate *> byName;
  llvm::StringSet<> absent;
  SmallVector<StringRef> passedOver;
};
} // namespace

std::string Marker::enterName(Candidate &candidate) {
  if (!candidate.reachesLoss())
    return "does not reach the loss";
  if (candidate.kind == Candidate::Kind::Statistic)
    return "is " + candidate.reason + ", which forward updates and no optimizer may: take it out";
  candidate.isListed = true;
  return "";
}

/// A pattern matches only parameters. A constant that the rules call a buffer must be named.
std::string Marker::enterPattern(StringRef line) {
  auto pattern = llvm::GlobPattern::create(line);
  if (!pattern)
    return "is a bad pattern: " + llvm::toString(pattern.takeError());
  bool matches = false;
  const Candidate *buffer = nullptr;
  for (Candidate &candidate : candidates) {
    if (!candidate.reachesLoss() || !matchesAny(*pattern, candidate.names))
      continue;
    if (candidate.kind >= Candidate::Kind::Buffer) {
      buffer = buffer ? buffer : &candidate;
      continue;
    }
    matches = candidate.isListed = true;
  }
  if (matches)
    return "";
  if (buffer)
    return ("matches no parameter, only buffers, which a pattern passes over: '" + buffer->name() +
            "' is one, " + buffer->reason)
        .str();
  return "matches no float initializer that reaches the loss";
}

/// Marks the constants that `line` selects. Returns an error message, or an empty string.
std::string Marker::enter(StringRef line) {
  if (auto it = byName.find(line); it != byName.end())
    return enterName(*it->second);
  if (absent.contains(line)) {
    passedOver.push_back(line);
    return "";
  }
  if (line.find_first_of("*?[") != StringRef::npos)
    return enterPattern(line);
  return "is no float initializer of more than one element";
}

/// A suggestion for `line`, which matches nothing. Usually the prefix of a wrapper differs.
std::string Marker::remedyFor(StringRef line) const {
  for (const Candidate &candidate : candidates)
    for (StringRef name : candidate.names)
      if (name.ends_with(("." + line).str()) || line.ends_with(("." + name).str()))
        return ("write names as the model file has them: '" + name + "' instead of '" + line + "'")
            .str();
  return "write names as the model file has them, with the prefix of a module that wraps the "
         "model; docs/guides/weights.md shows how to make the list";
}

LogicalResult Marker::run(ArrayRef<std::string> lines, bool verbose) {
  std::vector<Finding> problems;
  std::string remedy;
  for (const std::string &line : lines)
    if (std::string problem = enter(line); !problem.empty()) {
      if (remedy.empty())
        remedy = remedyFor(line);
      problems.push_back({"'" + line + "' " + problem});
    }
  if (!passedOver.empty())
    emitWarning(module.getLoc())
        << "not in the graph, though listed as trainable: " << listNames(passedOver, verbose)
        << "; nothing reads such a parameter, or it is tied to a tensor whose other name must be "
        << "listed";
  if (problems.empty())
    return success();
  InFlightDiagnostic error = emitError(module.getLoc())
                             << "cannot train " << problems.size() << " of the listed parameters";
  attachFindings(error, {remedy}, problems, verbose);
  return error;
}

LogicalResult markListed(ModuleOp module, std::vector<Candidate> &candidates,
                         ArrayRef<std::string> lines, bool verbose) {
  return Marker(module, candidates).run(lines, verbose);
}

std::optional<std::vector<std::string>> readTrainableFile(StringRef path, ModuleOp module) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    emitError(module.getLoc()) << "cannot read '" << path << "': " << buffer.getError().message();
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (llvm::line_iterator line(**buffer, /*SkipBlanks=*/true, '#'); !line.is_at_eof(); ++line)
    if (StringRef name = line->trim(); !name.empty())
      names.push_back(name.str());
  if (!names.empty())
    return names;
  emitError(module.getLoc()) << "expected names of parameters in '" << path << "', got none";
  return std::nullopt;
}

} // namespace zero
