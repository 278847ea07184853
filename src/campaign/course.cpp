#include "titer/campaign/course.hpp"

namespace titer {
namespace {

/// Adds up what does not fit, whatever the course.
struct TooLarge {
  std::vector<std::string>* lines;

  void operator()(const PhasesResult& result) const {
    for (const PhaseResult& phase : result.phases) {
      if (phase.too_large) {
        lines->push_back(phase.name + ": " + *phase.too_large);
      }
    }
  }
  void operator()(const SharingResult& result) const {
    if (!result.fits()) {
      lines->push_back(memory_sentence(result));
    }
  }
  void operator()(const FederatedResult& result) const {
    if (result.too_large) {
      lines->push_back("client: " + *result.too_large);
    }
  }
  void operator()(const QueryFleetResult& /*result*/) const {}
};

}  // namespace

CourseResult follow(const Course& course, Fidelity fidelity) {
  struct Follow {
    Fidelity fidelity;
    CourseResult operator()(const TrainingPhases& phases) const { return follow(phases, fidelity); }
    CourseResult operator()(const SharedJobs& jobs) const { return follow(jobs, fidelity); }
    CourseResult operator()(const FederatedCourse& rounds) const {
      return follow(rounds, fidelity);
    }
    CourseResult operator()(const QueryLoad& load) const { return follow(load); }
  };
  return std::visit(Follow{fidelity}, course.kind);
}

std::vector<std::string> too_large(const CourseResult& result) {
  std::vector<std::string> lines;
  std::visit(TooLarge{&lines}, result);
  return lines;
}

}  // namespace titer
