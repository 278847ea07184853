#include "png.hpp"

#include "titer/input/input_error.hpp"

#ifdef TITER_RSVG
#include <dlfcn.h>
#include <librsvg/rsvg.h>

#include <algorithm>
#include <cmath>
#include <memory>
#endif

namespace titer {

#ifdef TITER_RSVG

namespace {

constexpr double kZoom = 2;
constexpr double kMostPixels = 64e6;
constexpr double kLongestSide = 32767;  // of cairo's pictures

/// What is called of librsvg, and of cairo and GLib, which come with it.
class Rsvg {
  // First: the functions are looked for in it. Stays until the program ends, as GLib cannot be
  // unloaded.
  void* const library_ = dlopen("librsvg-2.so.2", RTLD_LAZY | RTLD_LOCAL);

 public:
  Rsvg() {
    if (library_ == nullptr) {
      throw InputError(
          "PNG: this machine has no librsvg-2.so.2, which draws it; expected Debian's librsvg2-2, "
          "or a name that ends in .svg");
    }
  }

  decltype(&rsvg_handle_new_from_data) read = find<decltype(read)>("rsvg_handle_new_from_data");
  decltype(&rsvg_handle_get_intrinsic_size_in_pixels) size =
      find<decltype(size)>("rsvg_handle_get_intrinsic_size_in_pixels");
  decltype(&rsvg_handle_render_document) draw = find<decltype(draw)>("rsvg_handle_render_document");
  decltype(&g_object_unref) drop = find<decltype(drop)>("g_object_unref");
  decltype(&cairo_image_surface_create) make_surface =
      find<decltype(make_surface)>("cairo_image_surface_create");
  decltype(&cairo_surface_destroy) drop_surface =
      find<decltype(drop_surface)>("cairo_surface_destroy");
  decltype(&cairo_create) make_pen = find<decltype(make_pen)>("cairo_create");
  decltype(&cairo_destroy) drop_pen = find<decltype(drop_pen)>("cairo_destroy");
  decltype(&cairo_set_source_rgb) colour = find<decltype(colour)>("cairo_set_source_rgb");
  decltype(&cairo_paint) paint = find<decltype(paint)>("cairo_paint");
  decltype(&cairo_surface_write_to_png_stream) write =
      find<decltype(write)>("cairo_surface_write_to_png_stream");

 private:
  template <class Function>
  [[nodiscard]] Function find(const char* name) const {
    void* const found = library_ == nullptr ? nullptr : dlsym(library_, name);
    if (library_ != nullptr && found == nullptr) {
      throw InputError(std::string("PNG: this machine's librsvg has no ") + name +
                       "; expected version 2.52 or newer, or a name that ends in .svg");
    }
    return reinterpret_cast<Function>(found);
  }
};

const Rsvg& rsvg() {
  static const Rsvg library;
  return library;
}

void expect_drawn(bool drawn) {
  if (!drawn) {
    throw InputError(
        "PNG: librsvg cannot draw this picture; expected a smaller one, or a name that ends in "
        ".svg");
  }
}

/// How many pixels a pixel of SVG becomes.
double zoom_of(double wide, double high) {
  return std::min(
      {kZoom, std::sqrt(kMostPixels / (wide * high)), kLongestSide / wide, kLongestSide / high});
}

cairo_status_t append(void* png, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(png)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

void expect_png() { static_cast<void>(rsvg()); }

std::string png_of(std::string_view svg) {
  const Rsvg& library = rsvg();
  const std::unique_ptr<RsvgHandle, decltype(library.drop)> picture(
      library.read(reinterpret_cast<const guint8*>(svg.data()), svg.size(), nullptr), library.drop);
  double wide = 0;
  double high = 0;
  expect_drawn(picture && library.size(picture.get(), &wide, &high) && wide > 0 && high > 0);
  const double zoom = zoom_of(wide, high);
  const RsvgRectangle all = {0, 0, std::ceil(wide * zoom), std::ceil(high * zoom)};
  const std::unique_ptr<cairo_surface_t, decltype(library.drop_surface)> surface(
      library.make_surface(
          CAIRO_FORMAT_RGB24, static_cast<int>(all.width), static_cast<int>(all.height)),
      library.drop_surface);
  const std::unique_ptr<cairo_t, decltype(library.drop_pen)> pen(library.make_pen(surface.get()),
                                                                 library.drop_pen);
  library.colour(pen.get(), 1, 1, 1);
  library.paint(pen.get());
  expect_drawn(library.draw(picture.get(), pen.get(), &all, nullptr));
  std::string png;
  expect_drawn(library.write(surface.get(), append, &png) == CAIRO_STATUS_SUCCESS);
  return png;
}

#else

void expect_png() {
  throw InputError(
      "PNG: this build draws none; expected one with Debian's librsvg2-dev, or a name that ends in "
      ".svg");
}

std::string png_of(std::string_view) {
  expect_png();
  return {};
}

#endif

}  // namespace titer
