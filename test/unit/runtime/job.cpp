//===- job.cpp - processes of a test --------------------------------------===//

#include "job.h"

#include <chrono>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace zero::rt::test {

static int ownPipe = -1;

void say(const std::string &line) {
  const std::string text = line + "\n";
  if (::write(ownPipe, text.data(), text.size()) != ssize_t(text.size()))
    ::_exit(3);
}

std::string textOf(const Status &status) { return status.ok() ? "ok" : status.getMessage(); }

void pause(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

std::optional<Message> received(Connection &connection, double seconds) {
  std::optional<Message> found;
  for (const Time end = after(seconds); !found && !connection.isLost() && Clock::now() < end;) {
    PollSet polls;
    connection.prepare(polls);
    polls.wakeAt(end);
    polls.wait();
    connection.serve(polls, [&](Message &&message) {
      found = std::move(message);
      return true;
    });
  }
  return found;
}

Job::Job(int processes, bool tcp, double timeout)
    : timeout(timeout), processes(processes), children(processes) {
  static int number = 0;
  ++number;
  address = tcp ? format("tcp:127.0.0.1:%d", 61440 + (int(::getpid()) + number) % 240 * 17)
                : format("unix:@zero-test-%d-%d", int(::getpid()), number);
}

Job::~Job() {
  for (Child &child : children) {
    if (child.pid > 0 && !child.hasEnded) {
      ::kill(child.pid, SIGKILL);
      ::waitpid(child.pid, nullptr, 0);
    }
    if (child.pipe >= 0)
      ::close(child.pipe);
  }
}

ControlOptions Job::optionsOf(int process) const {
  ControlOptions options;
  options.process = process;
  options.processes = processes;
  options.address = address;
  options.job = "job of " + address;
  options.secret = "secret of " + address;
  options.about = format("rank %d", process);
  options.timeoutSeconds = timeout;
  return options;
}

std::string Job::nameOf(int index) const {
  char host[256] = {};
  ::gethostname(host, sizeof(host) - 1);
  return format("rank %d on host '%s' (pid %d)", index, host, int(children[index].pid));
}

static pid_t forkWithPipe(const std::function<void()> &body, int &pipe) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return -1;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ownPipe = ends[1];
    ::alarm(60); // whatever happens to the test
    body();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  ::close(ends[1]);
  pipe = ends[0];
  return pid;
}

int Job::run(std::function<void()> body) {
  Child &child = children.emplace_back();
  child.pid = forkWithPipe(body, child.pipe);
  return int(children.size()) - 1;
}

void Job::start(int number, std::function<void(ControlChannel &)> body) {
  const auto open = [&] {
    ChannelPtr channel;
    if (Status status = ControlChannel::open(optionsOf(number), channel); !status.ok())
      say(textOf(status));
    else
      body(*channel);
  };
  children[number].pid = forkWithPipe(open, children[number].pipe);
}

void Job::startAll(const std::function<void(ControlChannel &)> &body) {
  for (int process = 0; process < processes; ++process)
    start(process, body);
}

std::string Job::line(int index, double seconds) {
  Child &child = children[index];
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  size_t newline;
  while ((newline = child.buffer.find('\n')) == std::string::npos) {
    const std::chrono::duration<double, std::milli> left = end - std::chrono::steady_clock::now();
    pollfd poll = {child.pipe, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&poll, 1, int(left.count()) + 1) == 0)
      return "(silence)";
    char bytes[4096];
    const ssize_t count = ::read(child.pipe, bytes, sizeof(bytes));
    if (count <= 0)
      return "(end)";
    child.buffer.append(bytes, size_t(count));
  }
  std::string text = child.buffer.substr(0, newline);
  child.buffer.erase(0, newline + 1);
  return text;
}

void Job::join() {
  for (int index = 0; index < int(children.size()); ++index) {
    if (children[index].pid <= 0 || children[index].hasEnded)
      continue;
    EXPECT_EQ(line(index), "(end)") << "of process " << index;
    int status = -1;
    ::waitpid(children[index].pid, &status, 0);
    EXPECT_EQ(status, 0) << "of process " << index;
    children[index].hasEnded = true;
  }
}

} // namespace zero::rt::test
