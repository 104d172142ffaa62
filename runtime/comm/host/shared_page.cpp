//===- shared_page.cpp - a rendezvous page of several processes -----------===//

#include "runtime/comm/host/shared_page.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zero::rt {

static Status failure(const char *what) {
  return fail(ZERO_RT_IO, "%s: %s", what, std::strerror(errno));
}

static Status map(int descriptor, uint64_t bytes, std::shared_ptr<RendezvousPage> &page) {
  void *memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED)
    return failure("cannot map the page that processes share");
  page = {static_cast<RendezvousPage *>(memory),
          [bytes](RendezvousPage *mapped) { ::munmap(mapped, bytes); }};
  return {};
}

Status createSharedPage(int ranks, uint64_t token, SharedPage &shared) {
  const uint64_t bytes = RendezvousPage::bytes(ranks);
  const int descriptor = ::memfd_create("zero-rendezvous", MFD_CLOEXEC);
  if (descriptor < 0)
    return failure("cannot create a page that processes share");
  Status status = ::ftruncate(descriptor, off_t(bytes)) == 0
                      ? map(descriptor, bytes, shared.page)
                      : failure("cannot reserve a page that processes share");
  if (!status.ok()) {
    ::close(descriptor);
    return status;
  }
  shared.page->token = token;
  shared.descriptor = descriptor;
  return {};
}

Status openSharedPage(pid_t process, int descriptor, int ranks, uint64_t token,
                      std::shared_ptr<RendezvousPage> &page) {
  const std::string path = format("/proc/%d/fd/%d", int(process), descriptor);
  const uint64_t bytes = RendezvousPage::bytes(ranks);
  const int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0)
    return failure(path.c_str());
  struct stat info;
  const bool fits = ::fstat(opened, &info) == 0 && uint64_t(info.st_size) == bytes;
  Status status = fits ? map(opened, bytes, page) : Status(ZERO_RT_IO, "another page");
  ::close(opened);
  if (status.ok() && page->token != token)
    status = Status(ZERO_RT_IO, "the page of another job");
  return status.ok() ? status
                     : fail(status.getCode(), "%s: %s", path.c_str(), status.getMessage().c_str());
}

} // namespace zero::rt
