//===- DiskSpeed.cpp - speed of the disk of the nvme tier -----------------===//

#include "DiskSpeed.h"

#include "runtime/io/disk_rate.h"
#include "runtime/support/checked.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <ctime>
#include <filesystem>

using namespace mlir;

namespace zero {

namespace {
/// Drives that were measured together, and when.
struct Measured {
  uint64_t read = 0, write = 0, mixed = 0; ///< bytes a second
  std::string date;
};
} // namespace

/// The ranks that use the drives of `options.nvmeDir` at the same time.
static unsigned ranksOfNode(const PhaseOptions &phases) {
  const unsigned ranks = phases.place.ranksPerNode;
  return ranks ? ranks : unsigned(phases.ranks());
}

/// "disk-259-1-ranks-2" in the cache's folder; empty without a cache.
static std::string cacheFile(const CompilerOptions &options, const rt::DriveFolders &folders) {
  if (options.noCache || options.cacheFolder.empty())
    return "";
  SmallString<128> path(options.cacheFolder);
  llvm::sys::path::append(path, "disk-" + folders.drivesText() + "-ranks-" +
                                    Twine(ranksOfNode(options.phases)));
  return std::string(path);
}

static bool readCache(const std::string &path, Measured &measured) {
  auto text = path.empty() ? std::make_error_code(std::errc::no_such_file_or_directory)
                           : llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!text)
    return false;
  SmallVector<StringRef> words;
  llvm::SplitString((*text)->getBuffer(), words);
  measured.date = words.size() == 4 ? words[3].str() : "";
  return words.size() == 4 && parseInteger(words[0], measured.read) && measured.read > 0 &&
         parseInteger(words[1], measured.write) && measured.write > 0 &&
         parseInteger(words[2], measured.mixed) && measured.mixed > 0;
}

/// A cache that cannot be written is none.
static void writeCache(const std::string &path, const Measured &measured) {
  if (path.empty() || llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path)))
    return;
  if (llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
        os << measured.read << " " << measured.write << " " << measured.mixed << " "
           << measured.date << "\n";
        return llvm::Error::success();
      }))
    llvm::consumeError(std::move(error));
}

static std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16] = "";
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::localtime(&now));
  return text;
}

std::string findDiskSpeed(CompilerOptions &options) {
  const PhaseOptions &phases = options.phases;
  phase::PlanOptions &plan = options.phases.plan;
  if (options.nvmeDir.empty() || !phases.offload.mayUse(Tier::Nvme))
    return "";
  rt::DriveFolders folders;
  if (rt::Status status = rt::DriveFolders::parse(options.nvmeDir, folders); !status.ok())
    return "--nvme-dir: " + status.getMessage();
  if (folders.drives() > 1 && plan.diskCount == 0)
    plan.diskCount = unsigned(folders.drives());
  if (plan.diskRead.getValue() != 0)
    return "";
  planning::Machine machine;
  if (std::string error = phases.loadMachine(machine); !error.empty() || machine.disk.read > 0)
    return error;
  for (const std::string &path : folders.paths())
    if (std::error_code none; !std::filesystem::is_directory(path, none))
      return "--nvme-dir: expected a folder, got '" + path + "'";
  const std::string cache = cacheFile(options, folders);
  Measured measured;
  const bool isKnown = readCache(cache, measured);
  if (!isKnown) {
    rt::DiskRate rate;
    if (rt::Status status = rt::measureDisks(folders, ranksOfNode(phases), rate); !status.ok()) {
      options.diskSource = status.getMessage();
      return "";
    }
    measured = {uint64_t(rate.read), uint64_t(rate.write), uint64_t(rate.mixed), today()};
    writeCache(cache, measured);
  }
  plan.diskRead = ByteSize{measured.read};
  plan.diskWrite = ByteSize{measured.write};
  plan.diskMixed = ByteSize{measured.mixed};
  options.diskSource = "measured in " + folders.text() +
                       (isKnown ? " on " + measured.date + ", cached in '" + cache + "'" : "");
  return "";
}

} // namespace zero
