//===- session_processes.cpp - one rank of many processes -----------------===//
//
// Ranks of other processes hear what this one did only when it tells them: all then know
// whether all have done it, and nobody goes on alone.
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/writer.h"
#include "runtime/session/session.h"

namespace zero::rt {

Status Session::checkRank(int rank) const {
  if (rank < 0 || rank >= body->program->ranks())
    return fail(ZERO_RT_INVALID_ARGUMENT, "no rank %d among %d", rank, body->program->ranks());
  if (isOneOfMany() && rank != options.rank)
    return fail(ZERO_RT_UNSUPPORTED, "rank %d is in another process", rank);
  return {};
}

Status Session::checkHasAll(const char *what) const {
  if (int(body->ranks.size()) == body->program->ranks())
    return {};
  return fail(ZERO_RT_UNSUPPORTED,
              "%s are put together of all ranks' memory, and this process has rank %d: save a "
              "checkpoint, and load it where one process has all ranks",
              what, options.rank);
}

/// Tells all ranks `own`. A failure ends the session.
Status Session::exchange(const Note &own, std::vector<Note> &all) {
  auto heard = std::make_shared<std::vector<Note>>(); // as long as the thread may write it
  Status status = runOnRanks([heard, own](Body &body, int rank) {
    return body.rank(rank).exchange(*body.device, own, *heard);
  });
  if (status.ok())
    all = std::move(*heard);
  else
    failure = status;
  return status;
}

/// Tells all ranks how `own` went, with `note`. Fails unless it went well on all.
Status Session::agree(const Status &own, Note note, std::vector<Note> &all) {
  note.code = own.getCode();
  ZERO_RT_TRY(exchange(note, all));
  ZERO_RT_TRY(own);
  for (size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank].code != ZERO_RT_OK)
      return fail(ZERO_RT_ABORTED, "rank %zu failed, and its process says why", rank);
  return {};
}

/// Whether all processes run the same file.
Status Session::checkSameProgram() {
  Header header;
  std::memcpy(&header, body->program->executable.file.bytes().data(), sizeof(header));
  std::vector<Note> all;
  ZERO_RT_TRY(agree({}, {0, {int64_t(header.checksum)}}, all));
  for (size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      return fail(ZERO_RT_INVALID_ARGUMENT, "rank %zu has another executable than rank 0", rank);
  return {};
}

/// Rank 0 makes the generation, each writes its part, and rank 0 gives it its name.
Status Session::writeStateWithOthers(const std::string &folder, proto::Manifest about) {
  std::vector<Note> all;
  std::unique_ptr<CheckpointWriter> made;
  const bool first = options.rank == 0;
  Status status;
  if (first)
    status = lockState(folder);
  if (first && status.ok())
    status = checkNoneLater(folder, steps, damaged);
  if (first && status.ok())
    status = CheckpointWriter::create(tables(), folder, about, made);
  ZERO_RT_TRY(agree(status, {0, {made ? int64_t(made->token()) : 0}}, all));
  if (!first)
    status = CheckpointWriter::join(tables(), draftPath(folder, steps, uint64_t(all[0].values[0])),
                                    std::move(about), made);
  std::shared_ptr<CheckpointWriter> writer = std::move(made); // as long as a rank writes
  body->meter.begin("checkpoint");
  if (status.ok())
    status = runOnRanks([writer](Body &body, int rank) {
      return writer->writeRank(rank, body.rank(rank).getMemory().byTier(), body.meter);
    });
  body->meter.end();
  Note written;
  if (status.ok())
    written = {0,
               {int64_t(writer->file(options.rank).bytes()), writer->file(options.rank).crc32()}};
  ZERO_RT_TRY(agree(status, written, all));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    writer->file(int(rank)).set_bytes(uint64_t(all[rank].values[0]));
    writer->file(int(rank)).set_crc32(uint32_t(all[rank].values[1]));
  }
  if (first)
    status = commitState(*writer);
  return agree(status, {}, all);
}

/// `own`: how loading went here. Ranks must not go on from different states, also where
/// one of them finds none.
Status Session::checkSameState(const std::string &path, const Status &own,
                               const zero_rt_state_result &result) {
  Note note{own.getCode(), {}};
  if (own.ok())
    note = {ZERO_RT_OK, {int64_t(result.step), int64_t(result.batch)}};
  std::vector<Note> all;
  ZERO_RT_TRY(exchange(note, all));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] == note)
      continue;
    auto text = [](const Note &each) {
      return each.code == ZERO_RT_OK
                 ? "goes on at step " + std::to_string(each.values[0])
                 : std::string(each.code == ZERO_RT_NOT_FOUND ? "found no checkpoint" : "failed");
    };
    failure = fail(ZERO_RT_ABORTED, "'%s': rank %d %s, rank %zu %s%s%s", escape(path).c_str(),
                   options.rank, text(note).c_str(), rank, text(all[rank]).c_str(),
                   own.ok() ? "" : ": ", own.getMessage().c_str());
    return failure;
  }
  return own;
}

} // namespace zero::rt
