#include "processes.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "titer/input/reader.hpp"

namespace titer {
namespace {

/// Cores that this process may run on; 0 where that cannot be told.
unsigned allowed_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? static_cast<unsigned>(CPU_COUNT(&cores))
                                                          : 0;
}

}  // namespace

Launch this_process(const std::string& option) {
  const Environment environment = [](const char* name) { return std::getenv(name); };
  if (option.empty()) {
    return read_launch(environment);
  }
  const Shard shard = read_shard(option);
  Launch launch;
  try {
    launch = read_launch(environment);
  } catch (const InputError&) {
    // The option is what an environment that says too little asks for.
  }
  launch.shard = shard;
  launch.launcher.clear();
  return launch;
}

unsigned threads_or_usual(unsigned wanted, const Launch& launch) {
  if (wanted > 0) {
    return wanted;
  }
  const unsigned online = std::max(1U, std::thread::hardware_concurrency());
  const unsigned allowed = allowed_cores();
  return usual_threads(launch, allowed > 0 ? allowed : online, online);
}

}  // namespace titer
