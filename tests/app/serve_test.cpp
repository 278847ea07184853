// titer serve and titer ask: what they answer, and what hostile requests get.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "app/program.hpp"
#include "repetitions.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr const char* kQuestion =
    R"({"question":"run","scenario":{"model":"llama3-70b","cluster":{"name":"dgx-h100","nodes":8},)"
    R"("plan":{"pipeline":4,"tensor":8},"training":{"global_batch":128,"sequence":8192}}})";

/// The server, as long as this lives.
class Serving {
 public:
  explicit Serving(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"serve", "--port=0", "--at-once=2"};
    if (testing::kSanitized) {  // whose shadow of all addresses counts as memory
      arguments.emplace_back("--memory-gib=65536");
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    const std::string out = (folder_.path() / "out").string();
    child_ = spawn(std::move(arguments), environment_with(root().string()), [&](auto* actions) {
      posix_spawn_file_actions_addopen(
          actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, STDERR_FILENO);
    });
    const std::string before = "http://127.0.0.1:";
    for (int tries = 0; tries < 500 && port_ == 0; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      said_ = file_text(out);
      if (said_.starts_with(before) && said_.find(' ') != said_.npos) {
        port_ = std::stoi(said_.substr(before.size()));
      }
    }
  }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;
  ~Serving() {
    kill(child_, SIGTERM);
    int status = 0;
    waitpid(child_, &status, 0);
  }

  [[nodiscard]] bool is_there() const { return port_ != 0; }
  [[nodiscard]] const std::string& said() const { return said_; }

  /// All that comes back for these bytes, until the server closes the connection.
  [[nodiscard]] std::string send(const std::string& bytes) const {
    const int number = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(number, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    std::size_t at = 0;
    while (at < bytes.size()) {
      const ssize_t sent = ::send(number, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) {
        break;  // refused before all of it came
      }
      at += static_cast<std::size_t>(sent);
    }
    std::string reply;
    std::array<char, 4096> piece{};
    for (ssize_t got = 0; (got = recv(number, piece.data(), piece.size(), 0)) > 0;) {
      reply.append(piece.data(), static_cast<std::size_t>(got));
    }
    close(number);
    return reply;
  }

 private:
  TemporaryFolder folder_;
  pid_t child_ = 0;
  int port_ = 0;
  std::string said_;
};

std::string request(const std::string& line, const std::string& headers = "") {
  return line + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers + "\r\n";
}

std::string post(const std::string& body,
                 const std::string& type = "application/json",
                 const std::string& path = "/ask") {
  return "POST " + path +
         " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// The status of a reply; 0 where there is none.
int status_of(const std::string& reply) {
  return reply.starts_with("HTTP/1.1 ") ? std::stoi(reply.substr(9, 3)) : 0;
}

#define SKIP_WITHOUT_SERVER(server)                                           \
  if ((server).said().find("built without cpp-httplib") != std::string::npos) \
    GTEST_SKIP() << "built without cpp-httplib";                              \
  ASSERT_TRUE((server).is_there()) << (server).said()

TEST(AppServe, ServesThePageAndAnswersIt) {
  const Serving server;
  SKIP_WITHOUT_SERVER(server);
  const std::string page = server.send(request("GET /"));
  EXPECT_EQ(status_of(page), 200);
  EXPECT_TRUE(contains(page, "<title>Titer"));
  EXPECT_TRUE(contains(page, "Content-Security-Policy: default-src 'none'"));
  const std::string answer = server.send(post(kQuestion));
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_TRUE(contains(answer, "\"iteration_time_s\":"));
}

TEST(AppServe, HasNothingButThePageAndItsAnswers) {
  const Serving server;
  SKIP_WITHOUT_SERVER(server);
  for (const std::string path : {"/etc/passwd",
                                 "/../../../../etc/passwd",
                                 "/%2e%2e/%2e%2e/etc/passwd",
                                 "//etc/passwd",
                                 "/ask/",
                                 "/configs/runs/llama3-70b-64xh100.json"}) {
    const std::string reply = server.send(request("GET " + path));
    EXPECT_EQ(status_of(reply), 404) << path;
    EXPECT_EQ(reply.find("root:"), reply.npos);
  }
  for (const std::string method : {"PUT", "DELETE", "PATCH", "OPTIONS", "POST"}) {
    EXPECT_EQ(status_of(server.send(request(method + " /", "Content-Length: 0\r\n"))), 405)
        << method;
  }
  EXPECT_EQ(status_of(server.send(request("GET /ask"))), 405);
}

TEST(AppServe, ReadsNoFileThatAQuestionNames) {
  const Serving server;
  SKIP_WITHOUT_SERVER(server);
  const std::string reply = server.send(
      post(R"({"question":"run","scenario":{"model":"/etc/passwd","cluster":"dgx-h100"}})"));
  EXPECT_EQ(status_of(reply), 400);
  EXPECT_TRUE(contains(reply, "no file is read here"));
  EXPECT_EQ(reply.find("root:"), reply.npos);
}

TEST(AppServe, RefusesWhatIsNoQuestionAndGoesOn) {
  const Serving server;
  SKIP_WITHOUT_SERVER(server);
  EXPECT_EQ(status_of(server.send(post("{\"question\": "))), 400);
  EXPECT_EQ(status_of(server.send(post(std::string(300000, '[')))), 400);
  EXPECT_EQ(status_of(server.send(post("\xff\xfe{}"))), 400);
  EXPECT_EQ(status_of(server.send(post(""))), 400);
  EXPECT_EQ(status_of(server.send(post(std::string(2 << 20, ' ')))), 413);
  EXPECT_EQ(status_of(server.send(post(kQuestion, "text/plain"))), 415);
  std::string cut = post(kQuestion);  // less than was announced
  cut.resize(cut.size() - 10);
  // Each of which the server waits for seconds for, side by side.
  std::vector<std::jthread> waiting;
  for (const std::string& sent : {std::string("\x16\x03\x01 nothing of HTTP\r\n\r\n"),
                                  "GET / HTTP/1.1\r\n" + std::string(100000, 'a') + "\r\n\r\n",
                                  cut}) {
    waiting.emplace_back([&server, sent] { EXPECT_NE(status_of(server.send(sent)), 200); });
  }
  waiting.clear();
  EXPECT_EQ(status_of(server.send(post(kQuestion))), 200);
}

TEST(AppServe, RefusesPagesOfOtherNames) {
  const Serving server;
  SKIP_WITHOUT_SERVER(server);
  std::string question = post(kQuestion);
  question.replace(question.find("127.0.0.1"), 9, "evil.example");
  EXPECT_EQ(status_of(server.send(question)), 403);
  EXPECT_EQ(status_of(server.send("GET / HTTP/1.0\r\n\r\n")), 403);
}

TEST(AppServe, EndsWhatTakesTooLong) {
  const Serving server({"--seconds=1"});
  SKIP_WITHOUT_SERVER(server);
  // 16,384 devices one by one: minutes.
  const std::string reply = server.send(post(
      R"({"question":"search","any_software":true,"search":{"scenario":{"model":"deepseek-v3",)"
      R"("cluster":{"name":"dgx-h100","nodes":256},)"
      R"("training":{"global_batch":15360,"sequence":4096}}}})"));
  EXPECT_TRUE(status_of(reply) == 200 || status_of(reply) == 503) << reply.substr(0, 400);
  EXPECT_TRUE(status_of(reply) == 503 || reply.find("\"complete\":false") != reply.npos);
  EXPECT_EQ(status_of(server.send(post(kQuestion))), 200);
}

TEST(AppServe, SaysWhereItCannotListen) {
  const Outcome outcome = titer({"serve", "--host", "203.0.113.1"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.errors().size(), 1U);
}

TEST(AppAsk, AnswersAFileAsJson) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "question.json").string();
  std::ofstream(path) << kQuestion;
  const Outcome outcome = titer({"ask", path});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "\"iteration_time_s\":"));
  const Outcome refused = titer({"ask"});  // of an empty standard input
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.out.starts_with("{\"errors\":[\"question:"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
