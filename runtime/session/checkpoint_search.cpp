//===- checkpoint_search.cpp - find the newest checkpoint -----------------===//

#include "runtime/session/checkpoint_search.h"

#include "runtime/processes/fields.h"
#include "runtime/processes/socket.h"

#include <map>
#include <set>

namespace zero::rt {

Status gatherNone(const Status &own, const std::string &note, std::vector<std::string> &all) {
  all = {note};
  return own;
}

/// The same on two nodes only if both have committed the same save: it lists the checksums of the
/// files of all ranks.
static uint32_t identityOf(const proto::Manifest &manifest) {
  proto::Manifest about;
  about.set_step(manifest.step());
  *about.mutable_data() = manifest.data();
  *about.mutable_files() = manifest.files();
  const std::string bytes = about.SerializeAsString();
  return crc32Of({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
}

namespace {
class Search {
public:
  Search(const std::string &path, const Gather &gather, const Verify &verify)
      : path(path), gather(gather), verify(verify) {}

  Status run(std::shared_ptr<CheckpointReader> &reader, std::vector<Damage> &passed);

private:
  Status list();
  Generation find(uint64_t step) const;
  bool isMissing(uint64_t step, std::string &why) const;
  Status open(uint64_t step, std::shared_ptr<CheckpointReader> &reader, std::string &why) const;
  bool areSame(const Generation &generation, const std::vector<std::string> &notes,
               std::string &why) const;

  const std::string &path;
  const Gather &gather;
  const Verify &verify;
  std::vector<Generation> own;
  std::vector<std::string> hosts;              ///< by process
  std::map<uint64_t, std::set<size_t>> having; ///< by step the processes that have it
};
} // namespace

/// Finds out which process has which generations.
Status Search::list() {
  const Status found = findGenerations(path, own);
  std::string note;
  append(note, hostName());
  for (const Generation &each : own)
    append(note, each.step);
  std::vector<std::string> notes;
  // Where there is none, another process may have one.
  ZERO_RT_TRY(gather(found.getCode() == ZERO_RT_NOT_FOUND ? Status() : found, note, notes));
  for (size_t process = 0; process < notes.size(); ++process) {
    Fields fields(notes[process]);
    hosts.emplace_back(fields.text());
    while (fields.isOk() && !fields.isAtEnd())
      having[fields.number()].insert(process);
  }
  return having.empty() ? found : Status();
}

Generation Search::find(uint64_t step) const {
  for (const Generation &each : own)
    if (each.step == step)
      return each;
  return {step, path + "/" + generationName(step)};
}

bool Search::isMissing(uint64_t step, std::string &why) const {
  const std::set<size_t> &processes = having.at(step);
  for (size_t process = 0; process < hosts.size(); ++process)
    if (!processes.count(process)) {
      why = format("'%s' is missing on host '%s'", escape(find(step).path).c_str(),
                   escape(hosts[process]).c_str());
      return true;
    }
  return false;
}

/// Whether all processes have found the generation intact, and the same.
bool Search::areSame(const Generation &generation, const std::vector<std::string> &notes,
                     std::string &why) const {
  const bool isNamed = std::set(hosts.begin(), hosts.end()).size() > 1;
  uint64_t first = 0;
  for (size_t process = 0; process < notes.size(); ++process) {
    Fields fields(notes[process]);
    const uint64_t identity = fields.number();
    why = fields.text();
    if (!why.empty() && isNamed)
      why = format("on host '%s': %s", escape(hosts[process]).c_str(), why.c_str());
    if (process == 0)
      first = identity;
    else if (why.empty() && identity != first)
      why = format("'%s' on host '%s' is not of the same save as on host '%s'",
                   escape(generation.path).c_str(), escape(hosts[process]).c_str(),
                   escape(hosts[0]).c_str());
    if (!why.empty())
      return false;
  }
  return true;
}

/// Opens a generation. `why`: what speaks against it, the same on all processes.
Status Search::open(uint64_t step, std::shared_ptr<CheckpointReader> &reader,
                    std::string &why) const {
  if (isMissing(step, why))
    return {};
  const Generation generation = find(step);
  std::shared_ptr<CheckpointReader> tried;
  Status status = CheckpointReader::open(generation, tried);
  if (status.ok())
    status = verify(tried);
  // Another version is not damage, and neither is lack of memory.
  const bool isDamage = status.getCode() == ZERO_RT_BAD_FILE || status.getCode() == ZERO_RT_IO;
  std::string note;
  append(note, uint64_t(status.ok() ? identityOf(tried->manifest()) : 0));
  append(note, status.getMessage());
  std::vector<std::string> notes;
  ZERO_RT_TRY(gather(isDamage ? Status() : status, note, notes));
  if (areSame(generation, notes, why))
    reader = std::move(tried);
  return {};
}

Status Search::run(std::shared_ptr<CheckpointReader> &reader, std::vector<Damage> &passed) {
  ZERO_RT_TRY(list());
  std::string all;
  for (auto each = having.rbegin(); each != having.rend(); ++each) {
    std::string why;
    ZERO_RT_TRY(open(each->first, reader, why));
    if (why.empty())
      return {};
    passed.push_back({find(each->first).path, why});
    all += (all.empty() ? "" : "; ") + why;
  }
  return fail(ZERO_RT_BAD_FILE, "no complete checkpoint in '%s': %s", escape(path).c_str(),
              all.c_str());
}

Status openNewest(const std::string &path, const Gather &gather, const Verify &verify,
                  std::shared_ptr<CheckpointReader> &reader, std::vector<Damage> &passed) {
  return Search(path, gather, verify).run(reader, passed);
}

} // namespace zero::rt
