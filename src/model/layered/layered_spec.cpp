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

std::string_view name_of(Verb verb) { return kVerbs[static_cast<std::size_t>(verb)].name; }
Value followers_schema() {
  return schema::list_of(schema::one_of<Verb>(std::span<const Choice<Verb>>(kFollowers)));
}

constexpr Range kElements = {0, 1e15};
constexpr Range kChannels = {1, kMostChannels};
constexpr Range kSide = {1, kMostSide};
constexpr Range kTableRows = {1, kMostRows};

/// A whole number; what could not be read makes the object unsound.
template <auto Member, class T>
void read_count(const Field<T>& own, Reader& in, T& object) {
  const auto value = fields::read_integer(own.key, own.range, false, in);
  if (value) {
    object.*Member = *value;
  } else if (own.required && !in.has(own.key)) {
    static_cast<void>(fields::read_integer(own.key, own.range, true, in));  // says what is missing
  }
  object.sound = object.sound && (value.has_value() || (!own.required && !in.has(own.key)));
}
template <auto Member, class T>
constexpr Field<T> count_field(std::string_view key, Range range, std::string_view about) {
  return fields::integer<Member, T>(key, range, about).read_by(read_count<Member, T>);
}

struct WrittenMap : FeatureMap {
  bool sound = true;
};
constexpr std::array kMapFields = {
    count_field<&WrittenMap::channels, WrittenMap>("channels", kChannels, "numbers of a pixel")
        .needed(),
    count_field<&WrittenMap::height, WrittenMap>("height", kSide, "rows of pixels"),
    count_field<&WrittenMap::width, WrittenMap>("width", kSide, "columns of pixels")};

constexpr std::array kTransferFields = {
    fields::choice<&LayeredTransfer::kind, kWanted>("collective", "what the ranks do").needed(),
    fields::choice<&LayeredTransfer::group, kGroups>("group", "the ranks that do it"),
    fields::number<&LayeredTransfer::elements>("elements", kElements, "of a sample").needed()};
Value transfer_schema() { return schema_of<LayeredTransfer>(kTransferFields); }

template <std::optional<LayeredTransfer> GivenNumbers::*Member>
void read_transfer(const Field<GivenNumbers>& own, Reader& in, GivenNumbers& numbers) {
  if (auto object = in.maybe_object(own.key)) {
    read_fields<LayeredTransfer>(kTransferFields, *object, (numbers.*Member).emplace());
  }
}
void read_output(const Field<GivenNumbers>& own, Reader& in, GivenNumbers& numbers) {
  if (auto object = in.maybe_object(own.key)) {
    numbers.output = read_map(*object);
    numbers.sound = numbers.output.has_value();
  }
}

using G = GivenNumbers;
constexpr std::array kGivenFields = {
    fields::choice<&G::kind, kKernelKinds>("kind", "of a `given` kernel")
        .needed()
        .or_else("required there"),
    fields::integer<&G::parameters>("parameters", {0, kMostRows}, "of it"),
    fields::quantity<&G::flops>("flops", "of its forward pass, of a sample")
        .or_else("none of a `memory` kernel, required of others"),
    fields::quantity<&G::input_gradient_flops>("input_gradient_flops", "of the input's gradient")
        .or_else("`flops`, or twice that without parameters"),
    fields::quantity<&G::weight_gradient_flops>("weight_gradient_flops", "of the weights' gradient")
        .or_else("`flops`, or none without parameters"),
    fields::number<&G::elements>("elements", kElements, "that the forward pass moves"),
    fields::number<&G::gradient_elements>(
        "gradient_elements", kElements, "that each pass of gradients moves")
        .or_else("`elements`"),
    fields::number<&G::saved>("saved", kElements, "elements kept for the backward pass"),
    fields::of_schema<G, map_schema>("output", read_output, "shape of its result")
        .or_else("its input's"),
    fields::of_schema<G, transfer_schema>("forward_transfer",
                                          read_transfer<&G::forward_transfer>,
                                          "a collective behind its forward pass"),
    fields::of_schema<G, transfer_schema>("backward_transfer",
                                          read_transfer<&G::backward_transfer>,
                                          "a collective behind its gradients")};

using Written = WrittenOperation;
template <Verb... verbs>
bool is_verb(const Written& written) {
  return ((written.verb == verbs) || ...);
}
constexpr auto kSlides = is_verb<Verb::convolution, Verb::max_pool, Verb::average_pool>;
constexpr auto kMultiplies = is_verb<Verb::convolution, Verb::linear>;

/// For keys that are read with others.
void read_apart(const Field<Written>& /*own*/, Reader& /*in*/, Written& /*written*/) {}
void read_join(const Field<Written>& own, Reader& in, Written& written) {
  const auto join = in.maybe_choice<Join>(own.key, kJoins);
  written.join =
      join || in.has(own.key) ? join.value_or(Join::add) : in.choice<Join>(own.key, kJoins);
  written.sound = join.has_value();
}
void read_followers(const Field<Written>& own, Reader& in, Written& written) {
  written.then = in.texts(own.key);
}
/// Those of a branch may be branches, too.
Value branches_schema() {
  Value branch = schema::object();
  schema::add_key(branch,
                  {.key = "operations",
                   .about = "of the branch, each as these; none: what comes is handed on",
                   .written = schema::list_of(Value::make_object().add("type", Value("object")))});
  return schema::list_of(std::move(branch));
}

constexpr std::array kOperationFields = {
    fields::choice<&Written::verb, kVerbs>("op", "what it does").needed().read_by(read_apart),
    fields::text<&Written::name>("name", "its own").or_else("that of `op`"),
    fields::of_schema<Written, followers_schema>("then", read_followers, "what follows at once"),
    count_field<&Written::kernel, Written>(
        "kernel", kSide, "rows of the window of a `convolution` or pool")
        .needed()
        .or_else("required there")
        .where(kSlides),
    count_field<&Written::stride, Written>("stride", kSide, "rows from a window to the next")
        .where(kSlides),
    count_field<&Written::padding, Written>("padding", {0, kMostSide}, "rows added at both ends")
        .where(kSlides),
    count_field<&Written::kernel_width, Written>("kernel_width", kSide, "columns of a window")
        .or_else("`kernel`")
        .where(kSlides),
    count_field<&Written::stride_width, Written>(
        "stride_width", kSide, "columns from a window to the next")
        .or_else("`stride`")
        .where(kSlides),
    count_field<&Written::padding_width, Written>(
        "padding_width", {0, kMostSide}, "columns added at both ends")
        .or_else("`padding`")
        .where(kSlides),
    fields::flag<&Written::round_up>("round_up", "the last window may reach beyond the padding")
        .where(kSlides),
    count_field<&Written::rows, Written>("rows", kTableRows, "of the table of an `embedding`")
        .needed()
        .or_else("required there")
        .where(is_verb<Verb::embedding>),
    count_field<&Written::out, Written>(
        "out", kChannels, "channels of the result of a `convolution`, `linear` or `embedding`")
        .needed()
        .or_else("required there")
        .where(is_verb<Verb::convolution, Verb::linear, Verb::embedding>),
    count_field<&Written::in, Written>("in", kTableRows, "channels that come, as a check")
        .where(kMultiplies),
    count_field<&Written::groups, Written>(
        "groups", kChannels, "of channels, each convolved by itself")
        .where(is_verb<Verb::convolution>),
    fields::flag<&Written::bias>("bias", "a number is added to each channel out")
        .or_else("`true`, but before a batch norm")
        .where(kMultiplies),
    fields::flag<&Written::pooled>("pooled", "the rows that are looked up are added")
        .where(is_verb<Verb::embedding>),
    fields::choice<&Written::join, kJoins>("join", "what becomes of the ends of `branches`")
        .needed()
        .or_else("required there")
        .read_by(read_join)
        .where(is_verb<Verb::branches>),
    fields::of_schema<Written, branches_schema>(
        "branches", read_apart, "two or more, of operations")
        .or_else("required there")
        .where(is_verb<Verb::branches>)};

void read_branches(OperationSpec& spec) {
  for (Reader& branch : spec.in.objects("branches")) {
    spec.branches.push_back(read_operations(branch));
    branch.finish();
  }
  if (spec.branches.size() == 1) {
    spec.in.fail("branches", "expected two or more");
  }
  spec.sound = spec.sound && spec.branches.size() > 1;
}

/// What only shows where the numbers are together.
void check_given(Reader& in, const GivenNumbers& numbers) {
  if (numbers.kind == KernelKind::memory && numbers.flops) {
    in.fail("flops", "expected none of a memory kernel, or another \"kind\"");
  }
  if (numbers.kind != KernelKind::memory && !in.has("flops")) {
    in.fail("flops", "missing; expected the FLOPs of one sample, such as \"2 GFLOP\"");
  }
  if (numbers.parameters == 0 && numbers.weight_gradient() > 0) {
    in.fail("weight_gradient_flops", "expected none where there are no \"parameters\"");
  }
}

/// False where its keys mean nothing, as the operation is not known.
bool read_operation(OperationSpec& spec) {
  Reader& in = spec.in;
  const auto verb = in.maybe_choice<Verb>("op", kVerbs);
  spec.sound = verb.has_value();
  if (!verb) {
    if (!in.has("op")) {
      in.fail("", "expected an \"op\", such as \"convolution\" or \"relu\"");
    }
    return false;
  }
  spec.is = {.verb = *verb, .name = std::string(name_of(*verb))};
  read_keys<Written>(kOperationFields, in, spec.is);
  spec.sound = spec.is.sound;
  if (spec.sound && spec.is.out % spec.is.groups != 0) {
    in.fail("groups", "expected a divisor of the " + std::to_string(spec.is.out) + " channels out");
    spec.sound = false;
  }
  if (*verb == Verb::branches) {
    read_branches(spec);
  } else if (*verb == Verb::given) {
    read_keys<G>(kGivenFields, in, spec.is.given);
    spec.sound = spec.is.given.sound;
    check_given(in, spec.is.given);
  }
  return true;
}

std::vector<OperationSpec> followers_of(OperationSpec& spec) {
  std::vector<OperationSpec> specs;
  for (const std::string& text : spec.is.then) {
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
    specs.push_back({.in = spec.in, .is = {.verb = *verb, .name = text}});
  }
  return specs;
}

}  // namespace

Value map_schema() { return schema_of<WrittenMap>(kMapFields); }

std::optional<FeatureMap> read_map(Reader& in) {
  WrittenMap map;
  read_fields<WrittenMap>(kMapFields, in, map);
  return map.sound ? std::optional<FeatureMap>(map) : std::nullopt;
}

std::vector<OperationSpec> read_operations(Reader& in) {
  std::vector<OperationSpec> specs;
  if (!in.has("operations")) {
    return specs;
  }
  for (const Reader& item : in.objects("operations")) {
    OperationSpec spec{.in = item};
    std::vector<OperationSpec> followers;
    if (read_operation(spec)) {
      followers = followers_of(spec);
      spec.in.finish();
    }
    specs.push_back(std::move(spec));
    specs.insert(specs.end(), followers.begin(), followers.end());
  }
  return specs;
}

Value operations_schema() {
  Value operation = schema::object();
  add_keys<Written>(kOperationFields, operation);
  add_keys<G>(kGivenFields, operation);
  operation.erase("required");  // beside an op each has its own
  operation.add("required", Value::make_array().push("op"));
  return schema::list_of(std::move(operation));
}

}  // namespace titer
