#include <algorithm>
#include <array>
#include <charconv>

#include "import_parts.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// A list of numbers as Python writes it: "[0]*3+[1]*58", "([1,1,0]*16)".
class ListText {
 public:
  explicit ListText(std::string_view text) : text_(text) {}

  std::optional<std::vector<bool>> all() {
    auto list = sum(0);
    skip_blanks();
    return list && next_ == text_.size() ? list : std::nullopt;
  }

 private:
  using List = std::optional<std::vector<bool>>;
  static constexpr int deepest = 20;
  static constexpr std::size_t most{kMostLayers};

  void skip_blanks() {
    while (next_ < text_.size() &&
           std::string_view(" \t'\"").find(text_[next_]) != std::string_view::npos) {
      ++next_;
    }
  }
  bool accept(char c) {
    skip_blanks();
    const bool found = next_ < text_.size() && text_[next_] == c;
    next_ += found ? 1 : 0;
    return found;
  }
  std::optional<std::int64_t> integer() {
    skip_blanks();
    std::int64_t number = 0;
    const auto [rest, error] =
        std::from_chars(text_.data() + next_, text_.data() + text_.size(), number);
    if (error != std::errc()) {
      return std::nullopt;
    }
    next_ = static_cast<std::size_t>(rest - text_.data());
    return number;
  }

  List sum(int depth) {
    List list = product(depth);
    while (list && accept('+')) {
      const List more = product(depth);
      if (!more || list->size() + more->size() > most) {
        return std::nullopt;
      }
      list->insert(list->end(), more->begin(), more->end());
    }
    return list;
  }

  List product(int depth) {
    List list = primary(depth);
    while (list && accept('*')) {
      const auto times = integer();
      if (!times || *times < 0 || *times > kMostLayers ||
          list->size() * static_cast<std::size_t>(*times) > most) {
        return std::nullopt;
      }
      std::vector<bool> repeated;
      for (std::int64_t i = 0; i < *times; ++i) {
        repeated.insert(repeated.end(), list->begin(), list->end());
      }
      list = std::move(repeated);
    }
    return list;
  }

  List primary(int depth) {
    if (depth > deepest) {
      return std::nullopt;
    }
    if (accept('(')) {
      List list = sum(depth + 1);
      return accept(')') ? list : std::nullopt;
    }
    if (!accept('[')) {
      return std::nullopt;
    }
    std::vector<bool> list;
    while (!accept(']')) {
      const auto number = integer();
      if (!number || list.size() == most) {
        return std::nullopt;
      }
      list.push_back(*number != 0);
      static_cast<void>(accept(','));
    }
    return list;
  }

  std::string_view text_;
  std::size_t next_ = 0;
};

}  // namespace

void assume(const ImportTask& task, std::string_view key, std::string_view what) {
  task.into.assumed.push_back(task.in.shown(key) + ": " + std::string(what));
}

void add_outcome(const Settings& in, ImportedRun& into) {
  const auto append = [](std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(into.used, in.used());
  append(into.harmless, in.harmless());
  append(into.unread, in.unread());
  append(into.open, in.open());
}

void stand_in(const ImportTask& task, std::string_view stack, std::string_view software) {
  task.into.stack = std::string(stack);
  task.into.assumed.push_back(task.file + ": the stack " + std::string(stack) + " stands for " +
                              std::string(software) + ", of which no figures are known");
}

void put_degree(const ImportTask& task,
                std::string_view name,
                std::string_view key,
                std::optional<std::int64_t> degree) {
  if (degree) {
    task.into.plan.add(std::string(name), Value(*degree));
  } else if (task.in.has(key)) {
    task.into.plan.add(std::string(name), Value(kLeftOpen));
  }
}

void take_only(const ImportTask& task,
               std::string_view key,
               std::initializer_list<std::string_view> values) {
  const auto word = task.in.word(key);
  if (word && !includes(values, *word)) {
    task.in.leave_out(key,
                      "taken as " + std::string(*values.begin()) + ", which alone is modelled");
  }
}

std::int64_t read_vocabulary(const ImportTask& task,
                             std::string_view key,
                             std::string_view tokenizer) {
  constexpr std::int64_t most = 1'000'000'000;
  if (task.options.vocabulary) {
    return *task.options.vocabulary;
  }
  if (const auto rows = task.in.integer(key, 1, most)) {
    return *rows;
  }
  if (const auto known = known_tokenizer(tokenizer)) {
    std::string what = "taken as " + std::to_string(known->rows) + ", for the tokenizer ";
    what.append(known->part);
    if (!known->others.empty()) {
      what.append("; ").append(known->others).append(": --vocabulary ROWS tells it");
    }
    assume(task, key, what);
    return known->rows;
  }
  if (task.options.base) {
    return task.options.base->vocabulary;
  }
  // For a tokenizer that nobody names, and for one that is not known: a table is less than a
  // hundredth of a large model.
  const KnownTokenizer usual =
      tokenizer.empty() ? KnownTokenizer{"GPT-2", 50257} : KnownTokenizer{"Llama 3", 128256};
  assume(task,
         key,
         "taken as " + std::to_string(usual.rows) + ", as " + usual.part +
             " has it, for want of a tokenizer that is known; --vocabulary ROWS tells it");
  return usual.rows;
}

std::vector<bool> read_layer_choice(const ImportTask& task,
                                    std::string_view key,
                                    std::int64_t layers) {
  const std::optional<std::string> text = task.in.text(key);
  if (!text) {
    return {};
  }
  std::int64_t every = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, every);
  std::vector<bool> list;
  if (error == std::errc() && rest == end && every > 0) {
    for (std::int64_t i = 0; i < layers; ++i) {
      list.push_back(i % every == 0);
    }
    return list;
  }
  const auto found = ListText(*text).all();
  if (!found || found->size() != static_cast<std::size_t>(layers)) {
    task.in.fail(key,
                 found ? "expected as many numbers as there are layers, " + std::to_string(layers) +
                             ", not " + std::to_string(found->size())
                       : "expected a number, or a list such as ([0]*3+[1]*58)");
    return {};
  }
  return *found;
}

void set_layer_kinds(Transformer& model, const std::vector<LayerKind>& layers) {
  model.kinds.clear();
  model.order.clear();
  for (const LayerKind& layer : layers) {
    const auto found = std::ranges::find(model.kinds, layer);
    const auto kind = static_cast<int>(found - model.kinds.begin());
    if (found == model.kinds.end()) {
      model.kinds.push_back(layer);
    }
    if (!model.order.empty() && model.order.back().kind == kind) {
      ++model.order.back().count;
    } else {
      model.order.push_back({.kind = kind, .count = 1});
    }
  }
  if (model.kinds.empty()) {
    model.kinds.emplace_back();
  }
}

namespace {

/// Parts of other programs' names, and what an optimizer is with them here; the first that fits.
/// None: it is not here.
struct OptimizerName {
  std::string_view part;
  std::string_view name;
  std::string_view in_bytes;  // with moments of 8 bits
};
constexpr std::array<OptimizerName, 16> kOptimizerNames = {{{"onebit", "", ""},
                                                            {"1bit", "", ""},
                                                            {"zero_one", "", ""},
                                                            {"zeroone", "", ""},
                                                            {"4bit", "", ""},
                                                            {"fp8", "", ""},
                                                            {"galore", "", ""},
                                                            {"apollo", "", ""},
                                                            {"adafactor", "adafactor", ""},
                                                            {"lion", "lion", "lion-8bit"},
                                                            {"muon", "muon", ""},
                                                            {"lamb", "lamb", ""},
                                                            {"adam", "adam", "adam-8bit"},
                                                            {"mcore_distributed_optim", "adam", ""},
                                                            {"sgd", "sgd", ""},
                                                            {"", "", ""}}};

}  // namespace

void put_optimizer(const ImportTask& task, std::string_view key) {
  const std::optional<std::string> name = task.in.word(key);
  if (!name) {
    return;
  }
  const auto has = [&](std::string_view part) { return name->find(part) != std::string::npos; };
  const auto known = std::find_if(
      kOptimizerNames.begin(), kOptimizerNames.end() - 1, [&](const OptimizerName& candidate) {
        return has(candidate.part);
      });
  const std::string_view own = has("8bit") ? known->in_bytes : known->name;
  if (own.empty()) {
    task.in.fail(key,
                 "expected an optimizer that is known here: adam, adamw, sgd, adafactor, lamb, "
                 "lion, muon; adam and lion of 8 bits");
    return;
  }
  task.into.training.add("optimizer", Value(own));
}

void check_degrees(const ImportTask& task, Degrees& degrees, const DegreeKeys& keys) {
  if (!degrees.devices || !degrees.tensor || !degrees.pipeline || !degrees.context) {
    return;
  }
  const std::int64_t others = *degrees.tensor * *degrees.pipeline * *degrees.context;
  if (*degrees.devices % others != 0) {
    task.in.fail(task.in.has(keys.devices) ? keys.devices : keys.tensor,
                 "expected the " + std::to_string(*degrees.devices) +
                     " devices to be a multiple of tensor x pipeline x context degree, " +
                     std::to_string(others));
    return;
  }
  const std::int64_t left = *degrees.devices / others;
  if (degrees.data && *degrees.data != left) {
    task.in.fail(keys.devices,
                 "expected the data-parallel degree to be " + std::to_string(left) + ", not " +
                     std::to_string(*degrees.data));
  }
  degrees.data = left;
  const std::int64_t apart = degrees.expert.value_or(1) *
                             degrees.expert_tensor.value_or(*degrees.tensor) * *degrees.pipeline;
  if (*degrees.devices % apart != 0) {
    task.in.fail(keys.expert,
                 "expected expert x expert tensor x pipeline degree, " + std::to_string(apart) +
                     ", to divide the " + std::to_string(*degrees.devices) + " devices");
  }
}

void put_batches(const ImportTask& task, const Degrees& degrees, const DegreeKeys& keys) {
  const auto micro = task.in.integer(keys.micro_batch, 1);
  const auto global = task.in.integer(keys.global_batch, 1);
  put_degree(task, "micro_batch", keys.micro_batch, micro);
  if (!micro || !degrees.data) {
    put(task.into.training, "global_batch", global);
    return;
  }
  const std::int64_t together = *micro * *degrees.data;
  if (global && *global % together != 0) {
    task.in.fail(keys.global_batch,
                 "expected a multiple of micro-batch x data-parallel degree, " +
                     std::to_string(*micro) + " x " + std::to_string(*degrees.data));
  }
  // "gas" tells how many are added up, of which put_accumulation makes the batch.
  if (!global && !task.in.has(keys.global_batch) && !task.in.has("gas")) {
    assume(task, keys.global_batch, "taken as micro-batch x data-parallel degree");
  }
  task.into.training.add("global_batch", Value(global.value_or(together)));
}

Value state_on_host() {
  Value offload = Value::make_object();
  offload.add("weights", Value("host"))
      .add("optimizer", Value("host"))
      .add("update", Value("host"));
  return offload;
}

}  // namespace titer
