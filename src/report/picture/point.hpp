#pragma once

namespace titer {

/// A place on a picture: pixels, y down.
struct Point {
  double x = 0.0;
  double y = 0.0;
};

}  // namespace titer
