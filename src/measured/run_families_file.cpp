// Families of measured runs as their file has them.

#include <algorithm>

#include "titer/hardware/noted_fields.hpp"
#include "titer/input/file.hpp"
#include "titer/input/read_document.hpp"
#include "titer/input/words.hpp"
#include "titer/measured/run_families.hpp"
#include "titer/model/routing/zipf.hpp"
#include "titer/scenario/data_files.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::string_view kFamilyFile = "families.json";
constexpr Range kCountOfTokens = {1, 1e12};

using H = RunHabits;
constexpr std::array kHabitFields = {
    fields::text<&H::stack, H>("stack", "the name or file of its software"),
    fields::text<&H::cluster, H>("cluster", "the name or file of its machine")
        .or_else("by chip and devices of a node"),
    fields::text<&H::network, H>(
        "network", "what joins its nodes, in the words of rows, where one says nothing"),
    fields::text<&H::transport, H>(
        "transport", "the name or file of the network that these links are of, with its protocols")
        .or_else("that of the machine"),
    fields::text<&H::power_cap, H>("power_cap", "as `cluster.chip.power_cap`"),
    fields::text<&H::model, H>("model", "the name or file of its model, for rows without layers"),
    fields::integer<&H::predicted_tokens>(
        "predicted_tokens", {0, 16}, "modules that predict further tokens")
        .or_else("none, or as the model of that name has them"),
    fields::flag<&H::flash>("flash", "fused attention").or_else("as the row says, or both"),
    fields::text<&H::recompute, H>("recompute", "what is recomputed, in the words of rows"),
    fields::flag<&H::overrides_recompute>("overrides_recompute",
                                          "`recompute` holds whatever a row says"),
    fields::text<&H::selective, H>("selective", "what rows mean by \"selective\" alone")
        .or_else("core attention"),
    fields::flag<&H::distribute_saved_activations>("distribute_saved_activations",
                                                   "as `plan.distribute_saved_activations`"),
    fields::flag<&H::prefetch>("prefetch", "as `plan.prefetch` and `plan.offload.prefetch`"),
    fields::flag<&H::overlap_grad_reduce>(
        "overlap_grad_reduce", "as `plan.overlap_grad_reduce`, where a row does not tell"),
    fields::choice<&H::sharding, kShardings>("sharding", "what data-parallel ranks share"),
    fields::flag<&H::tf32>("tf32", "products of numbers in fp32 are in tf32"),
    fields::integer<&H::sequence>("sequence", kCountOfTokens, "tokens of a sequence"),
    fields::integer<&H::vocabulary>(
        "vocabulary", kCountOfTokens, "rows of the token table, also where a row's are inferred"),
    fields::integer<&H::vocabulary_multiple>(
        "vocabulary_multiple", kCountOfTokens, "that these are padded to")
        .or_else("128"),
    fields::flag<&H::sequence_parallel>(
        "sequence_parallel",
        "tensor groups split what is between their products, whatever rows call it"),
    fields::flag<&H::fuller_middle>(
        "fuller_middle",
        "of four stages and more that share layers evenly, those behind the first get one more, "
        "and the last what is left, as in LiBai"),
    fields::flag<&H::splits_experts>("splits_experts",
                                     "experts are split over tensor groups, where rows do not say"),
    fields::flag<&H::splits_residual>("splits_residual",
                                      "`sequence_parallel`, where rows do not say"),
    fields::choice<&H::tensor_overlap, kTensorOverlaps>("tensor_overlap",
                                                        "how tensor groups' transfers are hidden"),
    fields::choice<&H::gradient, kDataTypes>("gradient_precision", "number format of gradients"),
    fields::flag<&H::bf16_states>("bf16_states",
                                  "weights are updated in bf16, with the optimizer's states in it"),
    fields::flag<&H::dropout>("dropout", "whether there is dropout")
        .or_else("where MLPs are not gated"),
    fields::flag<&H::parallel>("parallel", "attention and MLP read the same input"),
    fields::text<&H::optimizer, H>("optimizer",
                                   "as `training.optimizer`, where a row says nothing"),
    fields::object<&H::adapters, adapter_fields>("adapters", "that are trained alone"),
    fields::flag<&H::fp8_activation_inputs>("fp8_activation_inputs",
                                            "as `training.fp8_activation_inputs`"),
    fields::flag<&H::transposes_narrow_weights>("transposes_narrow_weights",
                                                "as `training.transposes_narrow_weights`"),
    fields::choice<&H::narrow_base, kNarrowWeights>(
        "narrow_base", "as `training.narrow_weights`, of a base beside adapters")
        .or_else("as the stack has it"),
    fields::text<&H::offload, H>("offload", "what is kept on hosts, in the words of rows"),
    fields::choice<&H::expert_dispatch, kExpertDispatches>("expert_dispatch",
                                                           "how tokens reach their experts"),
    fields::number<&H::routing_exponent>(
        "routing_exponent", kZipfExponents, "experts are chosen by Zipf's law with this exponent")
        .or_else("as often as each other"),
    fields::flag<&H::expert_overlap>("expert_overlap", "as `plan.expert_overlap`")
        .or_else("as the row says"),
    fields::flag<&H::fused_experts>("fused_experts", "as `plan.fused_experts`"),
    fields::flag<&H::narrow_logits>("narrow_logits", "as `training.narrow_logits`"),
    fields::text<&H::graph, H>("cuda_graph", "what is launched as one, in the words of rows"),
    fields::choice<&H::rates, kCountedAttentions>("rates",
                                                  "how its TFLOP/s count attention, where no time "
                                                  "is printed")
        .or_else("unknown: rows with rates alone measure nothing")};

void read_habits(Reader& in, RunHabits& habits) {
  for (const Field<H>& field : kHabitFields) {
    field.read(field, in, habits);
  }
}

RunFamily read_family(Reader& in, bool is_part) {
  RunFamily family;
  read_habits(in, family.habits);
  if (is_part) {
    family.column = in.text("column");
    family.word = plain_words(in.text("says"));
  }
  family.like = in.maybe_text("like").value_or("");
  if (in.has("where")) {
    for (Reader& part : in.objects("where")) {
      family.where.push_back(read_family(part, true));
    }
  }
  in.finish();
  return family;
}

std::vector<std::pair<std::string, RunFamily>> read_all(Reader& in, std::string_view key) {
  std::vector<std::pair<std::string, RunFamily>> all;
  if (auto named = in.maybe_object(key)) {
    for (const std::string& name : named->keys()) {
      Reader one = named->object(name);
      all.emplace_back(lower(name), read_family(one, false));
    }
  }
  return all;
}

}  // namespace

void put_over(const RunHabits& other, RunHabits& habits) {
  const RunHabits nothing;
  for (const Field<H>& field : kHabitFields) {
    if (!field.same(other, nothing)) {
      field.copy(other, habits);
    }
  }
}

RunFamilies::ChipName RunFamilies::chip_name(const std::string& called, const std::string& chip) {
  return {.plain = plain_words(called), .words = chip_words(called), .chip = chip};
}

std::vector<RunFamilies::ChipName> RunFamilies::read_chips(Reader& in) {
  std::vector<ChipName> chips;
  if (auto named = in.maybe_object("chips")) {
    for (const std::string& name : named->keys()) {
      chips.push_back(chip_name(name, named->text(name)));
    }
    named->finish();
  }
  return chips;
}

RunFamilies RunFamilies::load(const std::filesystem::path& folder) {
  RunFamilies made;
  made.folder_ = folder;
  const std::filesystem::path own = folder / kFamilyFile;
  Document document = load_json(data_root() / "configs" / kFamilyFile);
  made.files_.push_back(read(document));
  std::error_code ignored;
  if (std::filesystem::exists(own, ignored)) {
    document = load_json(own);
    made.files_.insert(made.files_.begin(), read(document));
  }
  made.check_likes(document);
  for (const File& file : made.files_) {
    made.chips_.insert(made.chips_.end(), file.chips.begin(), file.chips.end());
  }
  for (const std::string& name : shipped_names(kChipData)) {
    made.chips_.push_back(chip_name(name, name));
  }
  return made;
}

bool RunFamilies::leads_to(const RunFamily& from,
                           const RunFamily& family,
                           std::vector<const RunFamily*>& seen) const {
  if (&from == &family || includes(seen, &from)) {
    return &from == &family;
  }
  seen.push_back(&from);
  const RunFamily* like = family_named(from.like);
  return (like != nullptr && leads_to(*like, family, seen)) ||
         std::ranges::any_of(from.where,
                             [&](const RunFamily& part) { return leads_to(part, family, seen); });
}

void RunFamilies::check_like(Reader& in, const RunFamily& family) const {
  if (!family.like.empty()) {
    const RunFamily* like = family_named(family.like);
    std::vector<const RunFamily*> seen;
    if (like == nullptr) {
      in.fail("like", "expected the name of a family");
    } else if (leads_to(*like, family, seen)) {
      in.fail("like", "expected a family that is not like this one");
    }
  }
  if (!family.where.empty()) {
    std::vector<Reader> parts = in.objects("where");
    for (std::size_t i = 0; i < parts.size(); ++i) {
      check_like(parts[i], family.where[i]);
    }
  }
}

void RunFamilies::check_likes(const Document& document) const {
  Problems problems;
  Reader in(document, problems);
  const File& file = files_.front();
  for (const auto& [key, list] : {std::pair("families", &file.families),
                                  {"software", &file.software},
                                  {"models", &file.models},
                                  {"machines", &file.machines}}) {
    if (auto named = in.maybe_object(key)) {
      const std::vector<std::string> names = named->keys();
      for (std::size_t i = 0; i < names.size(); ++i) {
        Reader one = named->object(names[i]);
        check_like(one, (*list)[i].second);
      }
    }
  }
  problems.raise();
}

RunFamilies::File RunFamilies::read(const Document& document) {
  return read_document(document, [](Reader& in) {
    File file{.families = read_all(in, "families"),
              .software = read_all(in, "software"),
              .models = read_all(in, "models"),
              .machines = read_all(in, "machines"),
              .chips = read_chips(in)};
    in.finish();
    return file;
  });
}

}  // namespace titer
