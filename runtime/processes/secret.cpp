//===- secret.cpp - what only the processes of a job know -----------------===//

#include "runtime/processes/secret.h"

#include "runtime/processes/socket.h"
#include "runtime/support/file.h"
#include "runtime/support/temporary.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zero::rt {

static constexpr size_t kKeyBytes = crypto_generichash_BYTES;
static_assert(kKeyBytes == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);
static_assert(Seal::kBytes == crypto_aead_xchacha20poly1305_ietf_ABYTES);

static unsigned char *bytesOf(std::string &text) {
  return reinterpret_cast<unsigned char *>(text.data());
}
static const unsigned char *bytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char *>(text.data());
}

/// libsodium is ready. It can only fail where the kernel has no random numbers.
static void prepareLibrary() {
  static const bool isReady = ::sodium_init() >= 0;
  if (!isReady)
    std::abort();
}

static std::string randomBytes(size_t count) {
  prepareLibrary();
  std::string bytes(count, 0);
  ::randombytes_buf(bytes.data(), count);
  return bytes;
}

static std::string hexadecimal(std::string_view bytes) {
  std::string text(2 * bytes.size() + 1, 0);
  ::sodium_bin2hex(text.data(), text.size(), bytesOf(bytes), bytes.size());
  text.pop_back();
  return text;
}

std::string newChallenge() { return randomBytes(kChallengeBytes); }

std::string newSecret() { return hexadecimal(randomBytes(32)); }

/// The hash of 32 bytes of `text`, with a key of as many bytes or none.
static std::string hashOf(std::string_view key, std::string_view text) {
  prepareLibrary();
  std::string hash(kKeyBytes, 0);
  ::crypto_generichash(bytesOf(hash), hash.size(), bytesOf(text), text.size(),
                       key.empty() ? nullptr : bytesOf(key), key.size());
  return hash;
}

static std::string digestOf(std::string_view hash) { return hexadecimal(hash).substr(0, 32); }

std::string digestText(std::string_view text) { return digestOf(hashOf("", text)); }

Status digestFile(const std::string &path, std::string &digest) {
  prepareLibrary();
  InputFile file;
  ZERO_RT_TRY(InputFile::open(path, file));
  crypto_generichash_state state;
  ::crypto_generichash_init(&state, nullptr, 0, kKeyBytes);
  std::string piece(1 << 20, 0);
  for (uint64_t done = 0; done < file.size(); done += piece.size()) {
    piece.resize(std::min<uint64_t>(piece.size(), file.size() - done));
    ZERO_RT_TRY(file.read(done, piece.data(), piece.size()));
    ::crypto_generichash_update(&state, bytesOf(std::string_view(piece)), piece.size());
  }
  std::string hash(kKeyBytes, 0);
  ::crypto_generichash_final(&state, bytesOf(hash), hash.size());
  digest = digestOf(hash);
  return {};
}

std::string proofOf(std::string_view secret, std::string_view purpose, std::string_view text) {
  std::string body;
  append(body, purpose);
  append(body, text);
  return hashOf(hashOf("", secret), body); // a secret may have any length
}

bool isSameProof(std::string_view given, std::string_view expected) {
  return given.size() == expected.size() &&
         ::sodium_memcmp(given.data(), expected.data(), expected.size()) == 0;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static Status fileError(const char *what, const std::string &path) {
  return fail(ZERO_RT_IO, "cannot %s '%s': %s", what, escape(path).c_str(), std::strerror(errno));
}

Status writePrivateFile(const std::string &path, const std::string &text) {
  const std::string temporary = temporaryPath(path, randomToken());
  const Socket file(
      ::open(temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.isOpen())
    return fileError("write", temporary);
  Status status;
  if (::write(file.get(), text.data(), text.size()) != ssize_t(text.size()))
    status = fileError("write", temporary);
  else if (::link(temporary.c_str(), path.c_str()) != 0) // unlike rename(), it replaces nothing
    status = errno == EEXIST ? fail(ZERO_RT_INVALID_ARGUMENT,
                                    "'%s' exists already, perhaps from an earlier run: remove it",
                                    escape(path).c_str())
                             : fileError("write", path);
  ::unlink(temporary.c_str());
  return status;
}

Status readPrivateFile(const std::string &path, std::string &text) {
  const Socket file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (!file.isOpen() || ::fstat(file.get(), &info) != 0)
    return fileError("read", path);
  if (info.st_uid != ::geteuid() || (info.st_mode & 077) || !S_ISREG(info.st_mode))
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "'%s' has a secret that others could read or replace: expected a file of user %u "
                "with mode 600, got one of user %u with mode %o",
                escape(path).c_str(), ::geteuid(), info.st_uid, info.st_mode & 07777);
  constexpr size_t kMost = 64 << 10;
  text.assign(kMost, 0);
  const ssize_t count = ::read(file.get(), text.data(), text.size());
  if (count < 0)
    return fileError("read", path);
  text.resize(size_t(count));
  return {};
}

Status readSecret(const std::string &path, std::string &secret) {
  ZERO_RT_TRY(readPrivateFile(path, secret));
  secret.resize(std::min(secret.size(), secret.find_first_of("\r\n")));
  if (secret.size() < kShortestSecret)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "'%s': expected a secret of at least %zu characters, got %zu", escape(path).c_str(),
                kShortestSecret, secret.size());
  return {};
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

Seal::~Seal() { ::sodium_memzero(key.data(), key.size()); }

/// A key is of one direction of one connection: a count is enough.
std::string Seal::nextNonce() {
  std::string nonce(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, 0);
  std::memcpy(nonce.data(), &count, sizeof(count));
  ++count;
  return nonce;
}

Message Seal::close(const Message &message) {
  const std::string_view text = message.text();
  Message sealed;
  sealed.header = message.header;
  sealed.header.bytes = text.size() + kBytes;
  std::string body(sealed.header.bytes, 0);
  ::crypto_aead_xchacha20poly1305_ietf_encrypt(
      bytesOf(body), nullptr, bytesOf(text), text.size(),
      reinterpret_cast<const unsigned char *>(&sealed.header), sizeof(sealed.header), nullptr,
      bytesOf(nextNonce()), bytesOf(key));
  sealed.body = std::make_shared<const std::string>(std::move(body));
  return sealed;
}

bool Seal::open(Message &message) {
  const std::string_view sealed = message.text();
  if (sealed.size() < kBytes)
    return false;
  std::string body(sealed.size() - kBytes, 0);
  if (::crypto_aead_xchacha20poly1305_ietf_decrypt(
          bytesOf(body), nullptr, nullptr, bytesOf(sealed), sealed.size(),
          reinterpret_cast<const unsigned char *>(&message.header), sizeof(message.header),
          bytesOf(nextNonce()), bytesOf(key)) != 0)
    return false;
  message.header.bytes = body.size();
  message.body = std::make_shared<const std::string>(std::move(body));
  return true;
}

} // namespace zero::rt
