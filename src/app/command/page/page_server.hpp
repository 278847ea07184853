#pragma once
// The page over HTTP, and what it asks.

#include <string>

namespace titer {

struct ServeOptions {
  std::string host = "127.0.0.1";
  int port = 8080;
  unsigned at_once = 0;
  unsigned seconds = 60;
  unsigned memory_gib = 4;
};

/// Serves until the process is ended. Throws InputError where it cannot.
void serve_page(const ServeOptions& options);

}  // namespace titer
