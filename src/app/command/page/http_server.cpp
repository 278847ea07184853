#include "http_server.hpp"

#include <httplib.h>

#include <condition_variable>
#include <mutex>

namespace titer {
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

/// The name in "name:8080" and "[::1]:8080".
std::string host_name(const std::string& header) {
  const std::size_t end = header.starts_with('[') ? header.find(']') : header.find(':');
  return header.substr(0, header.starts_with('[') && end != header.npos ? end + 1 : end);
}

bool is_loopback(const std::string& name) {
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]" || name == "::1";
}

class HttpServer {
 public:
  explicit HttpServer(const HttpService& service) : service_(service), turns_(service.at_once) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(kConnections); };
    server_.set_payload_max_length(kLargestQuestion);
    server_.set_read_timeout(kSlowest);
    server_.set_write_timeout(kSlowest);
    server_.set_default_headers(
        {{"Content-Security-Policy", service_.policy + "; frame-ancestors 'none'"},
         {"X-Content-Type-Options", "nosniff"},
         {"Referrer-Policy", "no-referrer"},
         {"Cross-Origin-Resource-Policy", "same-origin"},
         {"Cache-Control", "no-store"}});
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& reply) {
          return check(request, reply);
        });
    server_.Get("/", [this](const httplib::Request&, httplib::Response& reply) {
      reply.set_content(service_.page, kHtml);
    });
    server_.Post("/ask", [this](const httplib::Request& request, httplib::Response& reply) {
      post(request, reply);
    });
    server_.set_exception_handler(
        [this](const httplib::Request&, httplib::Response& reply, std::exception_ptr) {
          refuse(reply, 503, "the system has no process to spare");
        });
  }

  /// What is wrong, where it does not serve.
  std::string run() {
    const int port = service_.port == 0 ? server_.bind_to_any_port(service_.host.c_str())
                     : server_.bind_to_port(service_.host.c_str(), service_.port) ? service_.port
                                                                                  : -1;
    if (port < 0) {
      return service_.host + ":" + std::to_string(service_.port) +
             " cannot be listened at; it may be taken: --port 0 takes one that is free";
    }
    service_.listening(port);
    return server_.listen_after_bind() ? "" : "the system has ended the connection";
  }

 private:
  void refuse(httplib::Response& reply, int status, const std::string& line) const {
    reply.status = status;
    reply.set_content(service_.error(line), kJson);
  }

  /// A page of another site must not ask by a name that it makes point here (DNS rebinding).
  httplib::Server::HandlerResponse check(const httplib::Request& request,
                                         httplib::Response& reply) const {
    using Response = httplib::Server::HandlerResponse;
    if (is_loopback(service_.host) && !is_loopback(host_name(request.get_header_value("Host")))) {
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
    HttpReply answer;
    try {
      answer = service_.answer(request.body);
    } catch (...) {
      turns_.give_back();
      throw;
    }
    turns_.give_back();
    reply.status = answer.status;
    reply.set_content(answer.json, kJson);
  }

  const HttpService& service_;
  Turns turns_;
  httplib::Server server_;
};

}  // namespace

extern "C" void titer_serve_http(const HttpService& service, std::string& problem) {
  problem = HttpServer(service).run();
}

}  // namespace titer
