//===- control_channel.cpp - small messages between processes -------------===//

#include "runtime/processes/control_channel.h"

#include "runtime/processes/conversation.h"
#include "runtime/processes/secret.h"

namespace zero::rt {

/// Longer texts would not fit into a Hello.
static constexpr size_t kLongestText = 1024;

Status checkSecret(const ControlOptions &options) {
  if (options.address.starts_with("unix:") || options.secret.size() >= kShortestSecret)
    return {};
  return fail(
      ZERO_RT_INVALID_ARGUMENT,
      "processes that meet at %s need a secret of at least %zu characters, so that no other "
      "user can join them: give all of them the same variable ZERO_JOB_SECRET, or "
      "--join-secret=FILE, for example with the output of `openssl rand -hex 32`",
      escape(options.address).c_str(), kShortestSecret);
}

static Status check(const ControlOptions &options) {
  if (options.processes < 1 || options.process < 0 || options.process >= options.processes)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "expected a process less than the number of processes, "
                "got %d and %d",
                options.process, options.processes);
  if (options.job.size() > kLongestText || options.about.size() > kLongestText)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "expected identifiers of at most %zu bytes, got %zu for the job and %zu for the "
                "process",
                kLongestText, options.job.size(), options.about.size());
  if (!(options.timeoutSeconds > 0))
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected a timeout of more than 0 s, got %g s",
                options.timeoutSeconds);
  return {};
}

Status ControlChannel::open(const ControlOptions &options,
                            std::unique_ptr<ControlChannel> &channel) {
  ZERO_RT_TRY(check(options));
  auto conversation = std::make_unique<Conversation>(options);
  ZERO_RT_TRY(conversation->open());
  channel.reset(new ControlChannel(std::move(conversation)));
  return {};
}

ControlChannel::ControlChannel(std::unique_ptr<Conversation> conversation)
    : conversation(std::move(conversation)) {}
ControlChannel::~ControlChannel() = default;

int ControlChannel::process() const { return conversation->options.process; }
int ControlChannel::processes() const { return conversation->options.processes; }

Status ControlChannel::allGather(const char *what, std::string_view own,
                                 std::vector<std::string> &all) {
  return conversation->allGather(what, own, all);
}

Status ControlChannel::stream(const char *what, int from, int to, uint64_t bytes, const Read &read,
                              const Write &write) {
  return conversation->stream(what, from, to, bytes, read, write);
}

void ControlChannel::onFailure(std::function<void(const Status &)> handler) {
  conversation->onFailure(std::move(handler));
}

void ControlChannel::fail(const Status &reason) { (void)conversation->fail(Kind::Fail, reason); }

Status ControlChannel::failure() const { return conversation->currentFailure(); }

std::vector<std::optional<std::string>> ControlChannel::askProgress(double seconds) {
  return conversation->askProgress(seconds);
}

void ControlChannel::onProgress(std::function<std::string()> answer) {
  conversation->onProgress(std::move(answer));
}

} // namespace zero::rt
