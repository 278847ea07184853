#pragma once
// A place on a picture.

namespace titer {

/// In pixels, y down.
struct Point {
  double x = 0.0;
  double y = 0.0;
};

}  // namespace titer
