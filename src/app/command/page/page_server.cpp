#include "page_server.hpp"

#include "app/command.hpp"
#include "titer/input/input_error.hpp"

#ifdef TITER_HTTPLIB
#include <dlfcn.h>
#include <fmt/format.h>

#include "child_process.hpp"
#include "http_server.hpp"
#include "titer/web/page.hpp"
#endif

namespace titer {

#ifndef TITER_HTTPLIB

void serve_page(const ServeOptions&) {
  throw InputError("titer serve: this program was built without cpp-httplib (libcpp-httplib-dev)");
}

#else

namespace {

std::string error_json(const std::string& line) {
  Value lines = Value::make_array();
  lines.push(line);
  Value answer = Value::make_object();
  answer.add("errors", std::move(lines));
  return to_json(answer, 0) + "\n";
}

/// By a process of its own: whatever becomes of it, the next question is answered.
HttpReply answered(const ServeOptions& options, const std::string& question) {
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
               ? HttpReply{503,
                           error_json(fmt::format("an answer would take more than {} GiB of memory",
                                                  options.memory_gib))}
               : HttpReply{500,
                           error_json("a defect of the program: `titer ask` may say more of it")};
  }
  return {*outcome.code == kSuccess ? 200 : 400, outcome.out};
}

/// The module, which stays until the program ends.
ServeHttp& http_server() {
  void* const module = dlopen(kHttpModule, RTLD_NOW | RTLD_LOCAL);
  void* const found = module == nullptr ? nullptr : dlsym(module, kServeHttp);
  if (found == nullptr) {
    throw InputError(fmt::format("titer serve: {}", dlerror()));
  }
  return *reinterpret_cast<ServeHttp*>(found);
}

}  // namespace

void serve_page(const ServeOptions& options) {
  std::string problem;
  http_server()({.host = options.host,
                 .port = options.port,
                 .at_once = options.at_once,
                 .page = std::string(web_page()),
                 .policy = std::string(web_page_policy()),
                 .answer = [&](const std::string& question) { return answered(options, question); },
                 .error = error_json,
                 .listening =
                     [&](int port) {
                       print(fmt::format("http://{}:{}/ (Ctrl-C ends it)\n", options.host, port));
                     }},
                problem);
  if (!problem.empty()) {
    throw InputError("titer serve: " + problem);
  }
}

#endif

}  // namespace titer
