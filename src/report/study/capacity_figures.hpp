#pragma once
// A capacity question and the answer's points as figures, for all views.

#include <string>
#include <string_view>
#include <vector>

#include "titer/campaign/capacity.hpp"
#include "titer/view/figure.hpp"

namespace titer {

/// "none", "selective", "mlp" where that is the only module, otherwise "modules"; "full".
[[nodiscard]] std::string recompute_name(const Plan& plan);

/// "t8 p16 d128 v8 b1 full": what tells plans of a question apart.
[[nodiscard]] std::string short_plan(const Plan& plan);

/// "devices for Llama 3 70B on NVIDIA H100 SXM5 80 GB (dgx-h100)": of what is computed, whatever
/// the question's file calls it.
[[nodiscard]] std::string capacity_title(const CapacityQuestion& question);

/// What the plans had to leave free, all alike.
[[nodiscard]] double memory_margin(const CapacityResult& result);

/// "llama3-16k-h100-2024 (2024-07), …", or that nothing fails.
[[nodiscard]] std::string failures_words(const CapacityQuestion& question);
/// "gpu-clouds-2026 (2026-06), …; electricity of united-states", with `price` also an hour's rent.
[[nodiscard]] std::string prices_words(const CapacityQuestion& question, bool with_price);
/// What goes on beside the run and is paid beside its devices, a line each; none where nothing
/// does.
[[nodiscard]] std::vector<std::string> beside_words(const CapacityQuestion& question);
/// What the devices of a point cost at the question's other prices, and when buying them is the
/// cheaper way; a line each.
[[nodiscard]] std::vector<std::string> against_words(const CapacityQuestion& question,
                                                     const CapacityPoint& point);
/// ", kept by 90 % of the runs", where that is asked for.
[[nodiscard]] std::string chance_words(const CapacityQuestion& question);
/// What bills of the question lack, a line each, with what would say it; none where nobody asks.
[[nodiscard]] std::vector<std::string> missing_words(const CapacityQuestion& question);

/// "3.2M dollars", "2.9M EUR": dollars in the currency of the answer.
[[nodiscard]] std::string money(const CapacityQuestion& question, double dollars);
/// The number alone.
[[nodiscard]] std::string money_count(const CapacityQuestion& question, double dollars);
/// What programs read in dollars, and people in the currency of the answer.
[[nodiscard]] Datum money_datum(const CapacityQuestion& question,
                                const std::optional<double>& dollars);

/// "15.6T", "1.2M": four digits.
[[nodiscard]] std::string short_count(double count);
/// With one digit behind the point.
[[nodiscard]] std::string days(Seconds time);
/// "60.0 days"; of what rounds to no tenth of a day "45 min".
[[nodiscard]] std::string day_words(Seconds time);
/// "47.9-74.2", in which 80 % of the runs are through.
[[nodiscard]] std::string days_range(const TrainingTime& time);

/// "58.3 days, 3.2M dollars, only 70 % of the runs in time": the share where a deadline lies
/// between 10 and 90 % of the simulated runs.
[[nodiscard]] std::string cost_words(const CapacityQuestion& question, const CapacityPoint& point);

/// What tells the rows of different questions apart.
[[nodiscard]] Figures question_figures(const CapacityQuestion& question);
/// Those that a point lacks are left out.
[[nodiscard]] Figures point_figures(const CapacityQuestion& question, const CapacityPoint& point);
[[nodiscard]] Figures year_figures(const CapacityQuestion& question,
                                   const CapacityResult& result,
                                   const CapacityYear& year);
/// The points of the answers, by their devices.
[[nodiscard]] Figures answer_figures(const CapacityResult& result);

/// Of question_figures() and point_figures(), but for what only some questions ask for.
inline constexpr std::string_view kCapacityColumns =
    "model cluster chip stack sequence precision global_batch reliability deadline_s "
    "chance_asked_for budget prices "
    "prices_date currency dollars_per_currency grid dollars_per_device_hour device_power_w devices "
    "nodes spare_devices status "
    "tensor pipeline data context expert virtual_stages micro_batch schedule recompute sharding "
    "batch_change iteration_time_s "
    "tokens_per_s mfu goodput tokens possible_tokens time_s time_low_s time_high_s chance_in_time "
    "device_hours dollars dollars_low dollars_high energy_j kilograms_co2e problem";
/// With that.
[[nodiscard]] std::string capacity_columns(const CapacityQuestion& question);

}  // namespace titer
