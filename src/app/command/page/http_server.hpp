#pragma once
// A page and its questions over HTTP, by cpp-httplib: a module of its own, which the program loads
// to serve. What that library and those behind it take to be loaded would be a third of each start.

#include <functional>
#include <string>

namespace titer {

struct HttpReply {
  int status = 200;
  std::string json;
};

/// What the server is to know of what it serves.
struct HttpService {
  std::string host;
  int port = 0;  // 0: any that is free
  unsigned at_once = 0;
  std::string page;
  std::string policy;                                    // of what the page may load
  std::function<HttpReply(const std::string&)> answer;   // a question, by several threads
  std::function<std::string(const std::string&)> error;  // a line as JSON
  std::function<void(int port)> listening;
};

inline constexpr const char* kHttpModule = "titer_http.so";
/// The module's function: serves until the process is ended, or says why it cannot.
using ServeHttp = void(const HttpService& service, std::string& problem);
inline constexpr const char* kServeHttp = "titer_serve_http";

}  // namespace titer
