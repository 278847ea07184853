#include "layered_spec.hpp"

#include <array>

#include "titer/model/limits.hpp"

namespace titer {
namespace {

constexpr std::array<Choice<Verb>, 13> kVerbs = {
    {{"convolution", Verb::convolution},
     {"linear", Verb::linear},
     {"batch-norm", Verb::batch_norm},
     {"relu", Verb::relu},
     {"activation", Verb::activation},
     {"dropout", Verb::dropout},
     {"max-pool", Verb::max_pool},
     {"average-pool", Verb::average_pool},
     {"global-average-pool", Verb::global_average_pool},
     {"branches", Verb::branches},
     {"embedding", Verb::embedding},
     {"cross-entropy", Verb::cross_entropy},
     {"given", Verb::given}}};
// What may follow at once, as it needs no figure of its own.
constexpr std::array<Choice<Verb>, 4> kFollowers = {{{"batch-norm", Verb::batch_norm},
                                                     {"relu", Verb::relu},
                                                     {"activation", Verb::activation},
                                                     {"dropout", Verb::dropout}}};
enum class Join : std::uint8_t { add, concatenate };
constexpr std::array<Choice<Join>, 2> kJoins = {
    {{"add", Join::add}, {"concatenate", Join::concatenate}}};
constexpr std::array<Choice<KernelKind>, 3> kKernelKinds = {{{"memory", KernelKind::memory},
                                                             {"matrix", KernelKind::matrix},
                                                             {"attention", KernelKind::attention}}};
constexpr std::array<Choice<Collective>, 5> kWanted = {
    {{"all-reduce", Collective::all_reduce},
     {"all-gather", Collective::all_gather},
     {"reduce-scatter", Collective::reduce_scatter},
     {"all-to-all", Collective::all_to_all},
     {"send-recv", Collective::send_recv}}};
constexpr std::array<Choice<LayerGroup>, 5> kGroups = {
    {{"tensor", LayerGroup::tensor},
     {"context", LayerGroup::context},
     {"expert", LayerGroup::expert},
     {"expert-tensor", LayerGroup::expert_tensor},
     {"data", LayerGroup::data}}};
constexpr double kMostElements = 1e15;

std::string_view name_of(Verb verb) { return kVerbs[static_cast<std::size_t>(verb)].name; }

/// Reads the figures of one operation and notes whether all could be read.
class SpecReader {
 public:
  explicit SpecReader(OperationSpec& spec) : spec_(spec), in_(spec.in) {}

  /// False where the other keys mean nothing, as the operation is not known.
  bool read() {
    const auto verb = in_.maybe_choice<Verb>("op", kVerbs);
    if (!verb) {
      if (!in_.has("op")) {
        in_.fail("", "expected an \"op\", such as \"convolution\" or \"relu\"");
      }
      spec_.sound = false;
      return false;
    }
    spec_.verb = *verb;
    spec_.name = in_.maybe_text("name").value_or(std::string(name_of(*verb)));
    spec_.then = in_.texts("then");
    read_figures();
    return true;
  }

 private:
  /// A batch norm takes the mean away, and a bias with it.
  void bias() {
    spec_.bias = in_.flag("bias", spec_.then.empty() || spec_.then.front() != "batch-norm");
  }

  void read_figures() {
    switch (spec_.verb) {
      case Verb::convolution:
        return convolution();
      case Verb::linear:
        spec_.out = required("out", kMostChannels);
        spec_.expected = optional("in", 1, kMostRows);
        return bias();
      case Verb::max_pool:
      case Verb::average_pool:
        return window();
      case Verb::branches:
        return branches();
      case Verb::embedding:
        spec_.rows = required("rows", kMostRows);
        spec_.out = required("out", kMostChannels);
        spec_.pooled = in_.flag("pooled", false);
        return;
      case Verb::given:
        return given();
      case Verb::batch_norm:
      case Verb::relu:
      case Verb::activation:
      case Verb::dropout:
      case Verb::global_average_pool:
      case Verb::cross_entropy:
        return;
    }
  }

  std::int64_t required(std::string_view key, std::int64_t most) {
    const auto value = in_.maybe_integer(key, 1, most);
    if (!value && !in_.has(key)) {
      static_cast<void>(in_.integer(key, 1, most));  // says what is missing
    }
    spec_.sound = spec_.sound && value.has_value();
    return value.value_or(1);
  }

  std::optional<std::int64_t> optional(std::string_view key,
                                       std::int64_t least,
                                       std::int64_t most) {
    const auto value = in_.maybe_integer(key, least, most);
    spec_.sound = spec_.sound && (value.has_value() || !in_.has(key));
    return value;
  }

  double amount(std::string_view key, double otherwise) {
    const auto value = in_.maybe_number(key, 0, kMostElements);
    spec_.sound = spec_.sound && (value.has_value() || !in_.has(key));
    return value.value_or(otherwise);
  }

  double flops(std::string_view key, double otherwise) {
    const auto value = in_.maybe_quantity<Flops>(key);
    spec_.sound = spec_.sound && (value.has_value() || !in_.has(key));
    return value ? value->si() : otherwise;
  }

  /// "kernel", "stride" and "padding" are of rows and, unless "kernel_width" and so on say
  /// otherwise, of columns.
  void window() {
    WindowSide& rows = spec_.window.rows;
    WindowSide& columns = spec_.window.columns;
    rows.kernel = required("kernel", kMostSide);
    rows.stride = optional("stride", 1, kMostSide).value_or(1);
    rows.padding = optional("padding", 0, kMostSide).value_or(0);
    columns.kernel = optional("kernel_width", 1, kMostSide).value_or(rows.kernel);
    columns.stride = optional("stride_width", 1, kMostSide).value_or(rows.stride);
    columns.padding = optional("padding_width", 0, kMostSide).value_or(rows.padding);
    rows.round_up = columns.round_up = in_.flag("round_up", false);
  }

  void convolution() {
    window();
    spec_.out = required("out", kMostChannels);
    spec_.expected = optional("in", 1, kMostChannels);
    spec_.groups = optional("groups", 1, kMostChannels).value_or(1);
    bias();
    if (spec_.sound && spec_.out % spec_.groups != 0) {
      in_.fail("groups",
               "expected a divisor of the " + std::to_string(spec_.out) + " channels out");
      spec_.sound = false;
    }
  }

  void branches() {
    const auto join = in_.maybe_choice<Join>("join", kJoins);
    if (!join && !in_.has("join")) {
      static_cast<void>(in_.choice<Join>("join", kJoins));  // says what is missing
    }
    spec_.sound = join.has_value();
    spec_.concatenated = join == Join::concatenate;
    for (Reader& branch : in_.objects("branches")) {
      spec_.branches.push_back(read_operations(branch));
      branch.finish();
    }
    if (spec_.branches.size() == 1) {
      in_.fail("branches", "expected two or more");
    }
    spec_.sound = spec_.sound && spec_.branches.size() > 1;
  }

  std::optional<LayeredTransfer> transfer(std::string_view key) {
    auto in = in_.maybe_object(key);
    if (!in) {
      return std::nullopt;
    }
    const LayeredTransfer wanted = {
        .kind = in->choice<Collective>("collective", kWanted),
        .group = in->maybe_choice<LayerGroup>("group", kGroups).value_or(LayerGroup::tensor),
        .elements = in->number("elements", 0, kMostElements)};
    in->finish();
    return wanted;
  }

  void given() {
    GivenNumbers& numbers = spec_.given;
    numbers.kind = in_.choice<KernelKind>("kind", kKernelKinds);
    numbers.parameters = optional("parameters", 0, kMostRows).value_or(0);
    numbers.flops = flops("flops", 0);
    // Two products stand behind the gradient of one without weights.
    numbers.input_gradient_flops =
        flops("input_gradient_flops", (numbers.parameters > 0 ? 1.0 : 2.0) * numbers.flops);
    numbers.weight_gradient_flops =
        flops("weight_gradient_flops", numbers.parameters > 0 ? numbers.flops : 0.0);
    numbers.elements = amount("elements", 0);
    numbers.gradient_elements = amount("gradient_elements", numbers.elements);
    numbers.saved = amount("saved", 0);
    if (auto map = in_.maybe_object("output")) {
      numbers.output = read_map(*map);
      spec_.sound = spec_.sound && numbers.output;
    }
    numbers.forward_transfer = transfer("forward_transfer");
    numbers.backward_transfer = transfer("backward_transfer");
    if (numbers.kind == KernelKind::memory && numbers.flops > 0) {
      in_.fail("flops", "expected none of a memory kernel, or another \"kind\"");
    }
    if (numbers.kind != KernelKind::memory && !in_.has("flops")) {
      in_.fail("flops", "missing; expected the FLOPs of one sample, such as \"2 GFLOP\"");
    }
    if (numbers.parameters == 0 && numbers.weight_gradient_flops > 0) {
      in_.fail("weight_gradient_flops", "expected none where there are no \"parameters\"");
    }
  }

  OperationSpec& spec_;
  Reader& in_;
};

std::vector<OperationSpec> followers_of(OperationSpec& spec) {
  std::vector<OperationSpec> specs;
  for (const std::string& text : spec.then) {
    std::optional<Verb> verb;
    for (const auto& [name, follower] : kFollowers) {
      if (name == text) {
        verb = follower;
      }
    }
    if (!verb) {
      spec.in.fail("then",
                   "expected a list of \"batch-norm\", \"relu\", \"activation\" and \"dropout\"");
      return specs;
    }
    specs.push_back({.in = spec.in, .verb = *verb, .name = text});
  }
  return specs;
}

}  // namespace

std::optional<FeatureMap> read_map(Reader& in) {
  const auto channels = in.maybe_integer("channels", 1, kMostChannels);
  const auto height = in.maybe_integer("height", 1, kMostSide);
  const auto width = in.maybe_integer("width", 1, kMostSide);
  if (!in.has("channels")) {
    static_cast<void>(in.integer("channels", 1, kMostChannels));  // says what is missing
  }
  in.finish();
  if (!channels || (!height && in.has("height")) || (!width && in.has("width"))) {
    return std::nullopt;
  }
  return FeatureMap{
      .channels = *channels, .height = height.value_or(1), .width = width.value_or(1)};
}

std::vector<OperationSpec> read_operations(Reader& in) {
  std::vector<OperationSpec> specs;
  if (!in.has("operations")) {
    return specs;
  }
  for (const Reader& item : in.objects("operations")) {
    OperationSpec spec{.in = item};
    const bool known = SpecReader(spec).read();
    std::vector<OperationSpec> followers;
    if (known) {
      followers = followers_of(spec);
      spec.in.finish();
    }
    specs.push_back(std::move(spec));
    specs.insert(specs.end(), followers.begin(), followers.end());
  }
  return specs;
}

}  // namespace titer
