#pragma once
// How often a test repeats what is random, or takes long.

#include <algorithm>

namespace titer::testing {

/// Whether a sanitizer watches, which needs to see all code run, not the same code again and again,
/// and makes it take ten times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

/// As many as given; a sixth of them under a sanitizer.
[[nodiscard]] constexpr int repetitions(int wanted) {
  return kSanitized ? std::max(1, wanted / 6) : wanted;
}

}  // namespace titer::testing
