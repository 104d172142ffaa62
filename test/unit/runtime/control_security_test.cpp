//===- control_security_test.cpp - strangers and the processes of a job ---===//
//
// Who does not know the secret of a job neither joins it nor ends it, whether it connects to
// process 0, listens in its place, or changes what the processes say to each other.
//
//===----------------------------------------------------------------------===//

#include "runtime/processes/handshake.h"
#include "runtime/processes/invitation.h"
#include "runtime/processes/secret.h"

#include "job.h"

#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace zero::rt;
using namespace zero::rt::test;

namespace {

Address addressOf(const Job &job) {
  Address address;
  EXPECT_TRUE(parseAddress(job.address, address).ok());
  return address;
}

std::string gathered(ControlChannel &channel) {
  std::vector<std::string> all;
  const Status status = channel.allGather("x", "y", all);
  return status.ok() ? all[0] + " " + all[1] : status.getMessage();
}

TEST(Secret, ProofsDependOnEverything) {
  const std::string proof = proofOf("secret", "purpose", "text");
  EXPECT_EQ(proof.size(), 32u);
  EXPECT_TRUE(isSameProof(proof, proofOf("secret", "purpose", "text")));
  EXPECT_FALSE(isSameProof(proof, proofOf("secrets", "purpose", "text")));
  EXPECT_FALSE(isSameProof(proof, proofOf("secret", "purposet", "ext")));
  EXPECT_FALSE(isSameProof(proof, proofOf("secret", "purpose", "texts")));
  EXPECT_FALSE(isSameProof("", proof));
  EXPECT_NE(newSecret(), newSecret());
  EXPECT_EQ(newSecret().size(), 64u);
  EXPECT_EQ(digestText("a").size(), 32u);
  EXPECT_NE(digestText("a"), digestText("b"));
}

TEST(Secret, SealsNoticeEachChange) {
  const std::string key = proofOf("secret", "key", "");
  Seal sending(key), receiving(key);
  const Message first = sending.close(Message(Kind::Gather, 1, 0, "first"));
  const Message second = sending.close(Message(Kind::Gather, 1, 0, "second"));
  EXPECT_EQ(first.text().find("first"), std::string::npos);
  Message opened = second;
  EXPECT_FALSE(Seal(key).open(opened)) << "one was left out";
  opened = first;
  ASSERT_TRUE(receiving.open(opened));
  EXPECT_EQ(opened.text(), "first");
  EXPECT_EQ(opened.header.bytes, 5u);
  opened = first;
  EXPECT_FALSE(receiving.open(opened)) << "repeated";
  for (size_t bit = 0; bit < 8 * (sizeof(MessageHeader) + first.text().size()); ++bit) {
    Message changed = first;
    std::string body(first.text());
    char *at = bit < 8 * sizeof(MessageHeader) ? reinterpret_cast<char *>(&changed.header)
                                               : body.data() - sizeof(MessageHeader);
    at[bit / 8] = char(at[bit / 8] ^ (1 << bit % 8));
    changed.body = std::make_shared<const std::string>(body);
    Seal other(key);
    EXPECT_FALSE(other.open(changed)) << bit;
  }
}

TEST(Secret, FilesArePrivate) {
  const std::string path = testing::TempDir() + "zero-secret-" + std::to_string(::getpid());
  ::unlink(path.c_str());
  ASSERT_TRUE(writePrivateFile(path, "0123456789abcdef\nmore\n").ok());
  struct stat info;
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_EQ(writePrivateFile(path, "x").getMessage(),
            "'" + path + "' exists already, perhaps from an earlier run: remove it");
  std::string secret;
  ASSERT_TRUE(readSecret(path, secret).ok());
  EXPECT_EQ(secret, "0123456789abcdef");
  ::chmod(path.c_str(), 0640);
  EXPECT_NE(readSecret(path, secret).getMessage().find("with mode 640"), std::string::npos);
  ::chmod(path.c_str(), 0600);
  std::ofstream(path) << "short\n";
  EXPECT_NE(readSecret(path, secret).getMessage().find("at least 16 characters, got 5"),
            std::string::npos);
  ::unlink(path.c_str());
}

Invitation invitationTo(const std::string &node, std::vector<std::string> networks) {
  return {61440, "job", "secret", node, std::move(networks)};
}

TEST(Invitations, LeadToProcess0) {
  std::vector<std::string> found;
  // On the same node the loopback comes first.
  ASSERT_TRUE(invitationTo(nodeKey(), {"203.0.113.5/24", "127.0.0.1/8"}).findAddresses(found).ok());
  EXPECT_EQ(found, (std::vector<std::string>{"tcp:127.0.0.1:61440", "tcp:203.0.113.5:61440"}));
  // Elsewhere addresses of this machine lead to itself.
  ASSERT_TRUE(invitationTo("other", {"127.0.0.1/8", "203.0.113.5/24", "198.51.100.7/24"})
                  .findAddresses(found)
                  .ok());
  EXPECT_EQ(found, (std::vector<std::string>{"tcp:203.0.113.5:61440", "tcp:198.51.100.7:61440"}));
  EXPECT_EQ(invitationTo("other", {"127.0.0.1/8"}).findAddresses(found).getMessage(),
            "process 0 is on another machine, and can only be reached at addresses that this "
            "machine has itself (127.0.0.1/8): choose a network with --interface");
}

TEST(Invitations, ListenWhereNeeded) {
  Socket listener;
  Invitation invitation, read;
  ASSERT_TRUE(Invitation::make(/*isOneMachine=*/true, "", listener, invitation).ok());
  EXPECT_FALSE(isEverywhere(listener));
  EXPECT_EQ(invitation.networks, std::vector<std::string>{"127.0.0.1/8"});
  EXPECT_GE(invitation.secret.size(), kShortestSecret);
  ASSERT_TRUE(Invitation::decode(invitation.encode(), read).ok());
  EXPECT_EQ(read.secret, invitation.secret);
  EXPECT_EQ(read.networks, invitation.networks);
  for (const char *loopback : {"lo", "127.0.0.1"}) {
    ASSERT_TRUE(Invitation::make(/*isOneMachine=*/false, loopback, listener, invitation).ok());
    EXPECT_FALSE(isEverywhere(listener));
  }
  ASSERT_TRUE(Invitation::make(/*isOneMachine=*/false, "", listener, invitation).ok());
  EXPECT_TRUE(isEverywhere(listener));
  EXPECT_GT(portOf(listener), 0);
  EXPECT_NE(Invitation::make(false, "none", listener, invitation)
                .getMessage()
                .find("--interface=none: expected the name or the IPv4 address of one of lo "),
            std::string::npos);
}

/// Both sides of a job with a wrong secret, and one with the right one.
TEST(Strangers, DoNotJoinWithoutTheSecret) {
  Job job(2, true, 5);
  const auto body = [](ControlChannel &channel) { say(gathered(channel)); };
  job.start(0, body);
  const int other = job.run([&] {
    ControlOptions options = job.optionsOf(1);
    options.secret = "another secret of 16 characters";
    options.timeoutSeconds = 0.5;
    ChannelPtr channel;
    say(textOf(ControlChannel::open(options, channel)));
  });
  EXPECT_EQ(job.line(other),
            "process 0 was not found at " + job.address +
                " within 0.5 s: another job or program listens, which does not know the secret of "
                "this job, at " +
                job.address);
  job.start(1, body);
  EXPECT_EQ(job.line(0), "y y");
  EXPECT_EQ(job.line(1), "y y");
  job.join();
}

/// Says what process 0 would say, but cannot prove it.
void impersonate(Connection &connection, const Message &hello) {
  Hello read;
  if (!Hello::decode(hello, read))
    return;
  Welcome welcome{{"rank 0", "host", 1}, newChallenge(), std::string(32, 'x')};
  connection.send(welcome.encode());
  if (received(connection, 1))
    say("confirmed");
}

TEST(Strangers, DoNotStandInForProcess0) {
  Job job(2, true, 2);
  const Address address = addressOf(job);
  const int impostor = job.run([&] {
    Socket listener;
    ASSERT_TRUE(listenAt(address, after(1), listener).ok());
    say("listens");
    for (int attempt = 0; attempt < 2; ++attempt) {
      pollfd poll = {listener.get(), POLLIN, 0};
      ::poll(&poll, 1, 5000);
      int error = 0;
      Socket socket = acceptFrom(listener, error);
      if (!socket.isOpen())
        continue;
      Connection connection(std::move(socket), kLargestHello);
      if (std::optional<Message> hello = received(connection, 1)) {
        if (attempt == 0)
          connection.send(refusal(Refusal::Mismatch, fail(ZERO_RT_INVALID_ARGUMENT, "go away")));
        else
          impersonate(connection, *hello);
      }
    }
    say("done");
  });
  EXPECT_EQ(job.line(impostor), "listens");
  // Neither a refusal without proof nor a wrong proof ends the attempts.
  job.start(1, [](ControlChannel &channel) { say(gathered(channel)); });
  EXPECT_EQ(job.line(impostor), "done");
  job.start(0, [](ControlChannel &channel) { say(gathered(channel)); });
  EXPECT_EQ(job.line(0), "y y");
  EXPECT_EQ(job.line(1), "y y");
  job.join();
}

/// An address that is taken is an error: process 0 does not listen elsewhere.
TEST(Strangers, KeepAnAddress) {
  for (const bool tcp : {false, true}) {
    Job job(2, tcp, 0.3);
    const Address address = addressOf(job);
    Socket listener;
    ASSERT_TRUE(listenAt(address, after(1), listener).ok());
    job.start(0, [](ControlChannel &) { say("opened"); });
    EXPECT_EQ(job.line(0),
              "cannot listen at " + job.address + ": another process of this user listens there");
    job.join();
  }
}

/// Passes bytes on between a process and process 0, and changes one of those after `skipped`.
void relay(int from, int to, uint64_t skipped) {
  char bytes[4096];
  for (uint64_t passed = 0;;) {
    const ssize_t count = ::read(from, bytes, sizeof(bytes));
    if (count <= 0)
      break;
    if (passed <= skipped && skipped < passed + uint64_t(count))
      bytes[skipped - passed] ^= 1;
    passed += uint64_t(count);
    if (::write(to, bytes, size_t(count)) != count)
      break;
  }
  ::shutdown(to, SHUT_WR);
}

/// One that passes everything on can only end the connection.
TEST(Strangers, CannotChangeMessages) {
  Job job(2, true, 3);
  Job fake(2, true, 3);
  const Address address = addressOf(job), before = addressOf(fake);
  const int between = job.run([&] {
    Socket listener;
    ASSERT_TRUE(listenAt(before, after(1), listener).ok());
    say("listens");
    pollfd poll = {listener.get(), POLLIN, 0};
    ::poll(&poll, 1, 5000);
    int error = 0;
    const Socket process = acceptFrom(listener, error);
    Socket hub;
    while (!connectTo(address, after(5), hub).ok())
      pause(0.01);
    for (const int descriptor : {process.get(), hub.get()})
      ::fcntl(descriptor, F_SETFL, 0);
    std::thread back([&] { relay(hub.get(), process.get(), UINT64_MAX); });
    relay(process.get(), hub.get(), 500); // in the first message after the handshake
    back.join();
  });
  EXPECT_EQ(job.line(between), "listens");
  job.start(0, [](ControlChannel &channel) { say(gathered(channel)); });
  job.run([&] {
    ControlOptions options = job.optionsOf(1);
    options.address = fake.address;
    ChannelPtr channel;
    const Status status = ControlChannel::open(options, channel);
    ASSERT_TRUE(status.ok()) << status.getMessage();
    std::vector<std::string> all;
    (void)channel->allGather("x", std::string(2000, 'y'), all);
  });
  const std::string text = job.line(0);
  EXPECT_NE(text.find("sent a message that is not understood"), std::string::npos) << text;
}

/// Mutated handshakes, and connections in a loop, while a job starts and runs.
TEST(Strangers, DoNotEndTheJob) {
  for (const bool tcp : {false, true}) {
    Job job(2, tcp);
    const Address address = addressOf(job);
    const auto body = [](ControlChannel &channel) {
      say("opened");
      pause(0.5);
      say(gathered(channel));
    };
    job.start(0, body);
    const int attacker = job.run([&] {
      std::minstd_rand random(tcp);
      const std::string hello = [&] {
        const Message message = Hello::own(job.optionsOf(1)).encode();
        return std::string(reinterpret_cast<const char *>(&message.header), sizeof(MessageHeader)) +
               *message.body;
      }();
      std::vector<Socket> kept;
      for (const Time end = after(2); Clock::now() < end;) {
        Socket socket;
        if (!connectTo(address, after(0.1), socket).ok())
          continue;
        std::string bytes = hello;
        for (unsigned changes = random() % 4; changes > 0; --changes)
          bytes[random() % bytes.size()] ^= char(1 << random() % 8);
        bytes.resize(random() % (bytes.size() + 1));
        (void)!::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (kept.size() < 700)
          kept.push_back(std::move(socket));
      }
      say("done");
    });
    pause(0.3);
    job.start(1, body);
    EXPECT_EQ(job.line(0), "opened");
    EXPECT_EQ(job.line(1), "opened");
    EXPECT_EQ(job.line(0), "y y");
    EXPECT_EQ(job.line(1), "y y");
    EXPECT_EQ(job.line(attacker), "done");
    job.join();
  }
}

} // namespace
