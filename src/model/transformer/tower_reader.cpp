// Towers in this program's own keys, read and written.
#include <algorithm>

#include "tower_parts.hpp"
#include "transformer_reading.hpp"

namespace titer {
namespace {

// With these tokens and parameters stay within 64 bits.
constexpr std::int64_t kMostPixelsAlong = 20'000;  // of an image, pixels
constexpr std::int64_t kMostParts = 64;            // of what is counted on fingers
constexpr std::int64_t kMostInputs = 10'000'000;   // of a patch

Transformer read_encoder(Reader& in) {
  Transformer encoder;
  encoder.name = "tower";
  read_stack(in, encoder);
  read_keys(encoder_fields(), in, encoder);
  read_layers(in, encoder);
  in.finish();
  return encoder;
}
Value encoder_document(const Transformer& encoder) {
  Value object = write_fields(stack_fields(), encoder);
  write_keys(encoder_fields(), encoder, object);
  return object;
}
Value encoder_schema() {
  Value object = schema_of(stack_fields());
  add_keys(encoder_fields(), object);
  return object;
}

bool has_images(const Tower& tower) { return !tower.spectra; }

constexpr std::array kPatchFields = {
    fields::integer<&Patches::side>("side", {1, kMostPixelsAlong}, "of a square, in pixels")
        .needed(),
    fields::integer<&Patches::channels>("channels", {1, kMostParts}, "numbers of a pixel"),
    fields::integer<&Patches::frames>("frames", {1, kMostParts}, "of a film that are one patch"),
    fields::flag<&Patches::bias>("bias", "of the product that makes hidden states of them")};

constexpr std::array kSpectraFields = {
    fields::integer<&Spectra::bins>("bins", {1, kMostWidth}, "of frequencies").needed(),
    fields::integer<&Spectra::taps>("taps", {1, kMostTaps}, "of two convolutions over time"),
    fields::integer<&Spectra::length>("length", {1, kMostTokens}, "steps behind them").needed()};
std::span<const Field<Spectra>> spectra_fields() { return kSpectraFields; }

void read_projector_widths(const Field<Projector>& own, Reader& in, Projector& projector) {
  const Value* widths = in.raw(own.key);
  for (const Value& width : widths == nullptr ? std::vector<Value>() : widths->items) {
    if (projector.widths.size() == kMostParts || !width.is_integer || width.integer < 1 ||
        width.integer > kMostWidth) {
      in.fail(own.key, "expected an array of a few whole numbers");
      break;
    }
    projector.widths.push_back(width.integer);
  }
}
constexpr std::array kProjectorFields = {
    fields::integer<&Projector::side>(
        "side", {1, kMostParts}, "patches along each side of a square that is one token"),
    fields::flag<&Projector::mean>("mean", "their mean, not all of them side by side"),
    fields::choice<&Projector::norm, kNorms>("norm", "of each patch").or_else("none"),
    fields::flag<&Projector::norm_joined>("norm_joined", "it is of what is joined"),
    fields::flag<&Projector::bias>("bias", "of the products"),
    fields::special<Projector, &Projector::widths>(
        "widths",
        {read_projector_widths,
         [](const Field<Projector>& /*own*/) {
           return schema::list_of(schema::integer({1, kMostWidth}));
         },
         [](const Projector& projector) { return list_value(projector.widths); }},
        "columns of what each product returns")
        .or_else("no product")
        .always_written()};
std::span<const Field<Projector>> projector_fields() { return kProjectorFields; }

constexpr std::array kTowerFields = {
    fields::special<Tower>("encoder",
                           {[](const Field<Tower>& own, Reader& in, Tower& tower) {
                              Reader encoder = in.object(own.key);
                              tower.encoder = read_encoder(encoder);
                            },
                            [](const Field<Tower>& /*own*/) { return encoder_schema(); },
                            [](const Tower& tower) { return encoder_document(tower.encoder); }},
                           "its layers")
        .needed(),
    fields::object<&Tower::spectra, spectra_fields>("spectra",
                                                    "of sounds, in place of patches and images"),
    fields::special<Tower, &Tower::patches>(
        "patches",
        {[](const Field<Tower>& own, Reader& in, Tower& tower) {
           Reader patches = in.object(own.key);
           tower.patches = read_patches(patches, {});
         },
         [](const Field<Tower>& /*own*/) { return schema_of(patch_fields()); },
         [](const Tower& tower) { return write_fields(patch_fields(), tower.patches); }},
        "of images")
        .needed()
        .or_else("required without `spectra`")
        .where(has_images),
    fields::integer<&Tower::image>(
        "image", {1, kMostPixelsAlong}, "pixels along each side that its positions are for")
        .or_else("any")
        .where(has_images),
    fields::flag<&Tower::class_token>("class_token", "a token beside the patches")
        .where(has_images),
    fields::flag<&Tower::keeps_class>("keeps_class", "it goes on to the language model")
        .where(has_images),
    fields::integer<&Tower::tiles>(
        "tiles", {1, kMostParts}, "that an image is cut into, which attend to one another")
        .where(has_images),
    fields::integer<&Tower::table_parameters>(
        "table_parameters", {0, kMostRows}, "of tables and gates that no other key tells"),
    fields::integer<&Tower::states>(
        "states", {1, kMostParts}, "results of so many layers side by side are projected"),
    fields::object<&Tower::projector, projector_fields>(
        "projector", "from its results to what the language model reads")
        .or_else("they are read as they are")
        .always_written(),
    fields::integer<&Tower::deep>(
        "deep", {0, kMostParts}, "layers whose results are projected, too"),
    fields::choice<&Tower::attended, kAttended>(
        "attended",
        "no: its tokens are part of the sequences; plain, gated: layers with `cross_attention` "
        "attend to them, gated with norms of queries and keys and two gates")};

void check_image(Reader& in, const Tower& tower) {
  if (tower.image > 0 && tower.image < tower.patches.side) {
    in.fail("image", "expected at least a patch of " + std::to_string(tower.patches.side));
  }
  if (tower.keeps_class && !tower.class_token) {
    in.fail("keeps_class", "expected \"class_token\": true");
  }
}

}  // namespace

Patches read_patches(Reader& in, const Patches& otherwise) {
  Patches patches = otherwise;
  read_fields(patch_fields(), in, patches);
  if (patches.inputs() > kMostInputs) {
    in.fail("side", "expected a patch of at most " + std::to_string(kMostInputs) + " numbers");
  }
  return patches;
}

void check_attended(Reader& in, std::string_view tower_key, const Transformer& model) {
  const bool attends = model.tower && model.tower->attended != Attended::no;
  const auto any = [&](auto has) { return std::ranges::any_of(model.kinds, has); };
  if (attends && !any([](const LayerKind& kind) { return kind.cross_attention; })) {
    in.fail(tower_key, "expected layers of cross-attention, for what it returns");
  }
  const auto alone = [](const LayerKind& kind) {
    return kind.cross_attention && kind.tokens == TokenMixing::none;
  };
  if (!attends && any(alone)) {
    in.fail(tower_key, "missing; expected a tower that layers of cross-attention alone attend to");
  }
}

Tower read_tower(Reader& in, std::int64_t language_width) {
  Tower tower;
  read_fields(std::span<const Field<Tower>>(kTowerFields), in, tower);
  check_image(in, tower);
  if (joined_width(tower) > kMostExpertWidth) {
    in.fail("projector",
            "expected tokens of at most " + std::to_string(kMostExpertWidth) + " columns");
  }
  const std::vector<std::int64_t>& widths = tower.projector.widths;
  const std::int64_t returned = widths.empty() ? joined_width(tower) : widths.back();
  if (returned != language_width && language_width > 1) {  // 1 stands in for what was not read
    in.fail("projector",
            "expected to return the hidden size " + std::to_string(language_width) + ", not " +
                std::to_string(returned));
  }
  return tower;
}

std::span<const Field<Patches>> patch_fields() { return kPatchFields; }

Value tower_document(const Tower& tower) {
  return write_fields(std::span<const Field<Tower>>(kTowerFields), tower);
}
Value tower_schema() { return schema_of(std::span<const Field<Tower>>(kTowerFields)); }

}  // namespace titer
