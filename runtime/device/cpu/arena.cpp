//===- arena.cpp - one rank's host memory ---------------------------------===//

#include "runtime/device/cpu/arena.h"

#include "runtime/support/available_memory.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace zero::rt {

static constexpr uint64_t kPage = 4096;
static constexpr uint64_t kHugePage = uint64_t(2) << 20;

namespace {
class HostArena : public Arena {
public:
  HostArena(char *mapping, uint64_t mapped, char *start, uint64_t size, bool resident)
      : mapping(mapping), mapped(mapped), start(start), size(size), resident(resident) {}
  ~HostArena() override { ::munmap(mapping, mapped); }

  char *base() const override { return start; }
  char *host() const override { return start; }
  uint64_t bytes() const override { return size; }
  Status touch() override {
    std::memset(start, 0, size);
    if (resident)
      ::mlock(start, size); // a wish
    return {};
  }

private:
  char *mapping;
  uint64_t mapped;
  char *start;
  uint64_t size;
  bool resident;
};
} // namespace

Status reserveHostMemory(uint64_t bytes, bool guarded, bool resident,
                         std::unique_ptr<Arena> &arena) {
  uint64_t pages = (bytes + kPage - 1) / kPage * kPage;
  uint64_t mapped = pages + 2 * kHugePage; // for alignment and guard pages
  int protection = guarded ? PROT_NONE : PROT_READ | PROT_WRITE;
  void *address =
      ::mmap(nullptr, mapped, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  auto failure = [&](int error) {
    const auto limit = processLimit();
    const std::string limited =
        limit && limit->left() < mapped
            ? format("; the process may take %llu bytes, and has %llu (%s)",
                     static_cast<unsigned long long>(limit->bytes),
                     static_cast<unsigned long long>(limit->used), limit->name.c_str())
            : "";
    return fail(ZERO_RT_IO, "cannot reserve %llu bytes of memory: %s%s",
                static_cast<unsigned long long>(bytes), std::strerror(error), limited.c_str());
  };
  if (address == MAP_FAILED)
    return failure(errno);
  auto *mapping = static_cast<char *>(address);
  auto number = reinterpret_cast<uintptr_t>(mapping) + 1;
  char *start = mapping + ((number + kHugePage - 1) / kHugePage * kHugePage - (number - 1));
  auto made = std::make_unique<HostArena>(mapping, mapped, start, bytes, resident);
  if (guarded && pages > 0 && ::mprotect(start, pages, PROT_READ | PROT_WRITE) != 0)
    return failure(errno);
  if (pages >= kHugePage)
    ::madvise(start, pages, MADV_HUGEPAGE); // a wish; not every kernel has them
  arena = std::move(made);
  return {};
}

} // namespace zero::rt
