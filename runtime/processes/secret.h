//===- secret.h - what only the processes of a job know ---------*- C++ -*-===//
//
// The primitives are libsodium's: keyed BLAKE2b (RFC 7693) for proofs and keys,
// XChaCha20-Poly1305 for messages.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROCESSES_SECRET_H
#define RUNTIME_PROCESSES_SECRET_H

#include "runtime/processes/message.h"

#include <string>
#include <string_view>

namespace zero::rt {

/// Random bytes that were never used before.
inline constexpr size_t kChallengeBytes = 32;
std::string newChallenge();

/// A secret of 256 random bits, as hexadecimal digits.
std::string newSecret();

/// Secrets of users have at least so many characters.
inline constexpr size_t kShortestSecret = 16;

/// Writes a file with mode 600 that appears complete at `path`, where nothing may be yet.
Status writePrivateFile(const std::string &path, const std::string &text);
/// Reads a short file that only this user can read and write; others are an error.
Status readPrivateFile(const std::string &path, std::string &text);
/// Reads a secret: the first line of such a file.
Status readSecret(const std::string &path, std::string &secret);

/// What can only be computed from `text` by those who know `secret`: 32 bytes. Proofs for one
/// `purpose` are none for another.
std::string proofOf(std::string_view secret, std::string_view purpose, std::string_view text);
/// Compares in a time that does not depend on the bytes.
bool isSameProof(std::string_view given, std::string_view expected);

/// 32 hexadecimal digits that are the same for no other text.
std::string digestText(std::string_view text);

/// The same of the bytes of a file.
Status digestFile(const std::string &path, std::string &digest);

/// Seals the messages of one direction of a connection, or opens them. Only those who know the key
/// can read them, and a message that was changed, repeated or left out is noticed.
class Seal {
public:
  /// Bytes by which it lengthens a body.
  static constexpr uint64_t kBytes = 16;

  explicit Seal(std::string key) : key(std::move(key)) {} ///< of proofOf()
  ~Seal();
  Seal(Seal &&) = default;
  Seal &operator=(Seal &&) = default;

  Message close(const Message &message);
  /// False: this is not the next message that the other side has sealed.
  bool open(Message &message);

private:
  std::string nextNonce();

  std::string key;
  uint64_t count = 0; ///< of messages so far
};

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_SECRET_H
