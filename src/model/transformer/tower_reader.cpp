// Towers in this program's own keys, read and written.
#include <algorithm>

#include "titer/model/transformer/transformer_document.hpp"
#include "tower_parts.hpp"
#include "transformer_reading.hpp"

namespace titer {
namespace {

// With these tokens and parameters stay within 64 bits.
constexpr std::int64_t kMostPixelsAlong = 20'000;  // of an image, pixels
constexpr std::int64_t kMostParts = 64;            // of what is counted on fingers
constexpr std::int64_t kMostInputs = 10'000'000;   // of a patch

Spectra read_spectra(Reader& in) {
  const Spectra spectra{.bins = in.integer("bins", 1, kMostWidth),
                        .taps = in.maybe_integer("taps", 1, kMostTaps).value_or(3),
                        .length = in.integer("length", 1, kMostTokens)};
  in.finish();
  return spectra;
}

void read_image(Reader& in, Tower& tower) {
  Reader patches = in.object("patches");
  tower.patches = read_patches(patches, {});
  tower.image = in.maybe_integer("image", 1, kMostPixelsAlong).value_or(0);
  tower.class_token = in.flag("class_token", false);
  tower.keeps_class = in.flag("keeps_class", false);
  tower.tiles = in.maybe_integer("tiles", 1, kMostParts).value_or(1);
  if (tower.image > 0 && tower.image < tower.patches.side) {
    in.fail("image", "expected at least a patch of " + std::to_string(tower.patches.side));
  }
  if (tower.keeps_class && !tower.class_token) {
    in.fail("keeps_class", "expected \"class_token\": true");
  }
}

Projector read_projector(Reader& in) {
  Projector projector;
  projector.side = in.maybe_integer("side", 1, kMostParts).value_or(1);
  projector.mean = in.flag("mean", false);
  projector.norm = in.maybe_choice<Norm>("norm", kNorms);
  projector.norm_joined = in.flag("norm_joined", false);
  projector.bias = in.flag("bias", false);
  const Value* widths = in.raw("widths");
  if (widths != nullptr) {
    for (const Value& width : widths->items) {
      if (projector.widths.size() == kMostParts || !width.is_integer || width.integer < 1 ||
          width.integer > kMostWidth) {
        in.fail("widths", "expected an array of a few whole numbers");
        break;
      }
      projector.widths.push_back(width.integer);
    }
  }
  in.finish();
  return projector;
}

Transformer read_encoder(Reader& in) {
  Transformer encoder;
  encoder.name = "tower";
  read_stack(in, encoder);
  encoder.causal = in.flag("causal", false);
  encoder.position_rows =
      encoder.positions == Positions::learned ? in.integer("position_rows", 1, kMostTokens) : 0;
  read_layers(in, encoder);
  in.finish();
  return encoder;
}

Value projector_document(const Projector& projector) {
  Value object = Value::make_object();
  add_unless<std::int64_t>(object, "side", projector.side, 1);
  add_unless(object, "mean", projector.mean, false);
  if (projector.norm) {
    object.add("norm", Value(name_in(kNorms, *projector.norm)));
  }
  add_unless(object, "norm_joined", projector.norm_joined, false);
  add_unless(object, "bias", projector.bias, false);
  Value widths = Value::make_array();
  for (const std::int64_t width : projector.widths) {
    widths.push(Value(width));
  }
  object.add("widths", std::move(widths));
  return object;
}

Value patches_document(const Patches& patches) {
  Value object = Value::make_object();
  object.add("side", patches.side);
  add_unless<std::int64_t>(object, "channels", patches.channels, 3);
  add_unless<std::int64_t>(object, "frames", patches.frames, 1);
  add_unless(object, "bias", patches.bias, false);
  return object;
}

Value spectra_document(const Spectra& spectra) {
  Value object = Value::make_object();
  object.add("bins", spectra.bins);
  add_unless<std::int64_t>(object, "taps", spectra.taps, 3);
  object.add("length", spectra.length);
  return object;
}

}  // namespace

Patches read_patches(Reader& in, const Patches& otherwise) {
  const Patches patches{
      .side = in.integer("side", 1, kMostPixelsAlong),
      .channels = in.maybe_integer("channels", 1, kMostParts).value_or(otherwise.channels),
      .frames = in.maybe_integer("frames", 1, kMostParts).value_or(1),
      .bias = in.flag("bias", otherwise.bias)};
  if (patches.inputs() > kMostInputs) {
    in.fail("side", "expected a patch of at most " + std::to_string(kMostInputs) + " numbers");
  }
  in.finish();
  return patches;
}

void check_attended(Reader& in, std::string_view tower_key, const Transformer& model) {
  const bool attends = model.tower && model.tower->attended != Attended::no;
  const auto any = [&](auto has) {
    return std::any_of(model.kinds.begin(), model.kinds.end(), has);
  };
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
  Reader encoder = in.object("encoder");
  tower.encoder = read_encoder(encoder);
  if (auto spectra = in.maybe_object("spectra")) {
    tower.spectra = read_spectra(*spectra);
  } else {
    read_image(in, tower);
  }
  tower.table_parameters = in.maybe_integer("table_parameters", 0, kMostRows).value_or(0);
  tower.states = in.maybe_integer("states", 1, kMostParts).value_or(1);
  if (auto projector = in.maybe_object("projector")) {
    tower.projector = read_projector(*projector);
  }
  tower.deep = in.maybe_integer("deep", 0, kMostParts).value_or(0);
  tower.attended = in.maybe_choice<Attended>("attended", kAttended).value_or(Attended::no);
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
  in.finish();
  return tower;
}

Value tower_document(const Tower& tower) {
  Value object = Value::make_object();
  object.add("encoder", stack_document(tower.encoder));
  if (tower.spectra) {
    object.add("spectra", spectra_document(*tower.spectra));
  } else {
    object.add("patches", patches_document(tower.patches));
    add_unless<std::int64_t>(object, "image", tower.image, 0);
    add_unless(object, "class_token", tower.class_token, false);
    add_unless(object, "keeps_class", tower.keeps_class, false);
    add_unless<std::int64_t>(object, "tiles", tower.tiles, 1);
  }
  add_unless<std::int64_t>(object, "table_parameters", tower.table_parameters, 0);
  add_unless<std::int64_t>(object, "states", tower.states, 1);
  object.add("projector", projector_document(tower.projector));
  add_unless<std::int64_t>(object, "deep", tower.deep, 0);
  if (tower.attended != Attended::no) {
    object.add("attended", Value(name_in(kAttended, tower.attended)));
  }
  return object;
}

}  // namespace titer
