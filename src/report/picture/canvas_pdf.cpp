#include <fmt/format.h>

#include <array>

#include "canvas.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

/// Of Helvetica (Adobe's metrics), in letter sizes; what stands centred is a number.
double helvetica_width(std::string_view number) {
  double width = 0.0;
  for (const char letter : number) {
    width += letter == '.' ? 0.278 : letter == '-' ? 0.333 : letter == '+' ? 0.584 : 0.556;
  }
  return width;
}

std::string pdf_character(unsigned char code) {
  if (code == '(' || code == ')' || code == '\\') {
    return {'\\', static_cast<char>(code)};
  }
  if (code >= 0x20 && code < 0x7F) {
    return {static_cast<char>(code)};
  }
  return code >= 0xA0 ? fmt::format("\\{:03o}", code) : "?";
}

/// UTF-8 as a string of PDF in Latin 1; what is not in it becomes a question mark.
std::string pdf_string(std::string_view words) {
  std::string text = "(";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto byte = static_cast<unsigned char>(words[i]);
    const bool is_latin = (byte == 0xC2 || byte == 0xC3) && i + 1 < words.size();
    if (is_latin) {
      const auto rest = static_cast<unsigned char>(words[++i]);
      text += pdf_character(static_cast<unsigned char>((byte & 0x3u) << 6u | (rest & 0x3Fu)));
    } else if ((byte & 0xC0u) != 0x80u) {  // not within a character
      text += pdf_character(byte < 0x80 ? byte : '\0');
    }
  }
  return text + ")";
}

/// A page of PDF 1.4 with two of the fonts that every reader has (ISO 32000-1, 9.6.2.2).
class PdfCanvas : public Canvas {
 public:
  void ground(const Area& area, std::string_view colour) override {
    add(filled(colour, box_text(area)));
  }

  void text(Point foot, const TextLook& look, std::string_view words) override {
    if (look.is_centred) {
      foot.x -= helvetica_width(words) * look.size / 2;
    }
    add(fmt::format("{} rg BT /{} {} Tf {} ET\n",
                    rgb(look.colour),
                    look.is_bold ? "B" : "R",
                    look.size,
                    shown(foot, words)));
  }

  void line(Point from, Point to, std::string_view colour, bool is_dashed) override {
    add(fmt::format("{} RG {} {:.2f} {:.2f} m {:.2f} {:.2f} l S\n",
                    rgb(colour),
                    is_dashed ? "[4 3] 0 d" : "[] 0 d",
                    from.x,
                    from.y,
                    to.x,
                    to.y));
  }

  void polygon(std::span<const Point> corners, std::string_view colour) override {
    add(rgb(colour) + " rg");
    std::string_view step = "m";
    for (const Point& corner : corners) {
      add(fmt::format(" {:.2f} {:.2f} {}", corner.x, corner.y, step));
      step = "l";
    }
    add(" f\n");
  }

  [[nodiscard]] std::string file(double wide, double high) const override {
    // Pixels, y down.
    const std::string content =
        fmt::format("{0} 0 0 -{0} 0 {1:.2f} cm\n", kBigPoints, kBigPoints * high) + body();
    constexpr std::string_view font =
        "<< /Type /Font /Subtype /Type1 /BaseFont /{} /Encoding /WinAnsiEncoding >>";
    const std::array<std::string, 6> objects = {
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        fmt::format("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {:.2f} {:.2f}] /Contents 4 0 R "
                    "/Resources << /Font << /R 5 0 R /B 6 0 R >> >> >>",
                    kBigPoints * wide,
                    kBigPoints * high),
        fmt::format("<< /Length {} >>\nstream\n{}endstream", content.size(), content),
        fmt::format(fmt::runtime(font), "Helvetica"),
        fmt::format(fmt::runtime(font), "Helvetica-Bold")};
    std::string file = "%PDF-1.4\n";
    std::string places = "0000000000 65535 f \n";
    for (std::size_t i = 0; i < objects.size(); ++i) {
      places += fmt::format("{:010} 00000 n \n", file.size());
      file += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, objects[i]);
    }
    const std::size_t start = file.size();
    return file + fmt::format(
                      "xref\n0 {0}\n{1}trailer\n<< /Size {0} /Root 1 0 R >>\nstartxref\n"
                      "{2}\n%%EOF\n",
                      objects.size() + 1,
                      places,
                      start);
  }

 protected:
  [[nodiscard]] std::string box_text(const Area& area) const override {
    return fmt::format("{:.2f} {:.2f} {:.2f} {:.2f} re\n", area.x, area.y, area.wide, area.high);
  }
  [[nodiscard]] std::string number_text(Point foot, std::string_view digits) const override {
    foot.x -= helvetica_width(digits) * kNumberSize / 2;
    return shown(foot, digits) + "\n";
  }
  [[nodiscard]] std::string filled(std::string_view colour, std::string_view boxes) override {
    return fmt::format("{} rg {}f\n", rgb(colour), boxes);
  }
  [[nodiscard]] std::string written(std::string_view colour, std::string_view numbers) override {
    return fmt::format("{} rg BT /R {} Tf\n{}ET\n", rgb(colour), kNumberSize, numbers);
  }

 private:
  /// Letters stand upright though y goes down.
  static std::string shown(Point foot, std::string_view words) {
    return fmt::format("1 0 0 -1 {:.2f} {:.2f} Tm {} Tj", foot.x, foot.y, pdf_string(words));
  }
  static std::string rgb(std::string_view colour) {
    std::string text;
    for (std::size_t i = 1; i < colour.size(); i += 2) {
      const int value = std::stoi(std::string(colour.substr(i, 2)), nullptr, 16);
      add_listed(text, fmt::format("{:.3f}", value / 255.0), " ");
    }
    return text;
  }
};

}  // namespace

std::unique_ptr<Canvas> make_pdf_canvas() { return std::make_unique<PdfCanvas>(); }

}  // namespace titer
