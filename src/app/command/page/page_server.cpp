#include "page_server.hpp"

#include "app/command.hpp"
#include "titer/input/input_error.hpp"

#ifdef TITER_HTTPLIB
#include <fmt/format.h>
#include <httplib.h>

#include <condition_variable>
#include <mutex>

#include "child_process.hpp"
#include "titer/web/page.hpp"
#endif

namespace titer {

#ifndef TITER_HTTPLIB

void serve_page(const ServeOptions&) {
  throw InputError("titer serve: this program was built without cpp-httplib (libcpp-httplib-dev)");
}

#else

namespace {

constexpr std::size_t kLargestQuestion = std::size_t{1} << 20U;
constexpr std::size_t kConnections = 32;     // that are read from at once
constexpr std::chrono::seconds kSlowest{5};  // between two pieces of a request
constexpr std::chrono::seconds kQueue{20};   // the longest that a question waits for its turn
constexpr const char* kJson = "application/json; charset=utf-8";
constexpr const char* kHtml = "text/html; charset=utf-8";

/// Of so many at once, who comes next.
class Turns {
 public:
  explicit Turns(unsigned free) : free_(free) {}

  /// False: none became free in time.
  [[nodiscard]] bool take() {
    std::unique_lock lock(mutex_);
    const bool is_free = changed_.wait_for(lock, kQueue, [&] { return free_ > 0; });
    free_ -= is_free ? 1 : 0;
    return is_free;
  }
  void give_back() {
    const std::lock_guard lock(mutex_);
    ++free_;
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned free_;
};

struct Reply {
  int status = 200;
  std::string json;
};

std::string error_json(const std::string& line) {
  Value lines = Value::make_array();
  lines.push(line);
  Value answer = Value::make_object();
  answer.add("errors", std::move(lines));
  return to_json(answer, 0) + "\n";
}

/// By a process of its own: whatever becomes of it, the next question is answered.
Reply answered(const ServeOptions& options, const std::string& question) {
  const std::vector<std::string> arguments = {"ask",
                                              "--no-files",
                                              "--jobs=1",
                                              fmt::format("--seconds={}", options.seconds),
                                              fmt::format("--memory-gib={}", options.memory_gib)};
  // A search that is late answers with what it has; that takes a moment.
  const std::chrono::seconds patience(options.seconds + 2);
  const ChildOutcome outcome = run_child(arguments, question, patience);
  if (!outcome.code) {
    return {503, error_json(fmt::format("no answer within {} s", options.seconds))};
  }
  if (outcome.out.empty()) {
    return *outcome.code == kUserError
               ? Reply{503,
                       error_json(fmt::format("an answer would take more than {} GiB of memory",
                                              options.memory_gib))}
               : Reply{500, error_json("a defect of the program: `titer ask` may say more of it")};
  }
  return {*outcome.code == kSuccess ? 200 : 400, outcome.out};
}

/// The name in "name:8080" and "[::1]:8080".
std::string host_name(const std::string& header) {
  const std::size_t end = header.starts_with('[') ? header.find(']') : header.find(':');
  return header.substr(0, header.starts_with('[') && end != header.npos ? end + 1 : end);
}

bool is_loopback(const std::string& name) {
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]" || name == "::1";
}

class PageServer {
 public:
  explicit PageServer(const ServeOptions& options)
      : options_(options), turns_(options.at_once), page_(web_page()) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(kConnections); };
    server_.set_payload_max_length(kLargestQuestion);
    server_.set_read_timeout(kSlowest);
    server_.set_write_timeout(kSlowest);
    server_.set_default_headers(
        {{"Content-Security-Policy", std::string(web_page_policy()) + "; frame-ancestors 'none'"},
         {"X-Content-Type-Options", "nosniff"},
         {"Referrer-Policy", "no-referrer"},
         {"Cross-Origin-Resource-Policy", "same-origin"},
         {"Cache-Control", "no-store"}});
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& reply) {
          return check(request, reply);
        });
    server_.Get("/", [this](const httplib::Request&, httplib::Response& reply) {
      reply.set_content(page_, kHtml);
    });
    server_.Post("/ask", [this](const httplib::Request& request, httplib::Response& reply) {
      post(request, reply);
    });
    server_.set_exception_handler(
        [](const httplib::Request&, httplib::Response& reply, std::exception_ptr) {
          refuse(reply, 503, "the system has no process to spare");
        });
  }

  void run() {
    const int port = options_.port == 0 ? server_.bind_to_any_port(options_.host.c_str())
                     : server_.bind_to_port(options_.host.c_str(), options_.port) ? options_.port
                                                                                  : -1;
    if (port < 0) {
      throw InputError(
          fmt::format("titer serve: {}:{} cannot be listened at; it may be taken: --port 0 takes "
                      "one that is free",
                      options_.host,
                      options_.port));
    }
    print(fmt::format("http://{}:{}/ (Ctrl-C ends it)\n", options_.host, port));
    if (!server_.listen_after_bind()) {
      throw InputError("titer serve: the system has ended the connection");
    }
  }

 private:
  static void refuse(httplib::Response& reply, int status, const std::string& line) {
    reply.status = status;
    reply.set_content(error_json(line), kJson);
  }

  /// A page of another site must not ask by a name that it makes point here (DNS rebinding).
  httplib::Server::HandlerResponse check(const httplib::Request& request,
                                         httplib::Response& reply) const {
    using Response = httplib::Server::HandlerResponse;
    if (is_loopback(options_.host) && !is_loopback(host_name(request.get_header_value("Host")))) {
      refuse(reply, 403, "Host: expected this machine's own name");
      return Response::Handled;
    }
    const bool is_page = request.path == "/";
    if (!is_page && request.path != "/ask") {
      refuse(reply, 404, "there is nothing but / and /ask");
      return Response::Handled;
    }
    const bool is_read = request.method == "GET" || request.method == "HEAD";
    if (is_page ? !is_read : request.method != "POST") {
      reply.set_header("Allow", is_page ? "GET, HEAD" : "POST");
      refuse(reply, 405, "expected " + std::string(is_page ? "GET" : "POST"));
      return Response::Handled;
    }
    return Response::Unhandled;
  }

  void post(const httplib::Request& request, httplib::Response& reply) {
    // Which a form of another site cannot say.
    if (!request.get_header_value("Content-Type").starts_with("application/json")) {
      refuse(reply, 415, "Content-Type: expected application/json");
      return;
    }
    if (!turns_.take()) {
      refuse(reply, 503, "too many questions at once: ask again later");
      return;
    }
    Reply answer;
    try {
      answer = answered(options_, request.body);
    } catch (...) {
      turns_.give_back();
      throw;
    }
    turns_.give_back();
    reply.status = answer.status;
    reply.set_content(answer.json, kJson);
  }

  ServeOptions options_;
  Turns turns_;
  std::string page_;
  httplib::Server server_;
};

}  // namespace

void serve_page(const ServeOptions& options) { PageServer(options).run(); }

#endif

}  // namespace titer
