// One step of dual coordinate descent on one variable: the same for both geometries.
#pragma once

namespace wellsvm::WELLSVM_ISA {

struct Step {
    double alpha, violation, loss;
};

// The gradient of the dual in one variable, and what of it the box does not forbid to follow.
struct Slope {
    double gradient, violation;
};

inline Slope slope_at(double alpha, double margin, double cap, double ridge) {
    const double gradient = (1.0 - margin) - ridge * alpha, size = gradient < 0 ? -gradient : gradient;
    const bool blocked = (alpha <= 0.0) & (gradient < 0.0), full = (alpha >= cap) & (gradient > 0.0);
    return {gradient, blocked | full ? 0.0 : size};
}

// Whether a variable is to move: its gradient is steeper than the threshold, and the box does not forbid to follow it.
inline bool is_to_move(double alpha, double gradient, double cap, double threshold) {
    const double size = gradient < 0 ? -gradient : gradient;
    return !(size <= threshold) && !(gradient > 0.0 ? alpha >= cap : alpha <= 0.0);
}

// The best alpha with all others fixed, a clipped Newton step.
inline double best_alpha(double alpha, double gradient, double cap, double curvature) {
    const double next = curvature > 0.0 ? alpha + gradient / curvature : (gradient > 0.0 ? cap : 0.0);
    return next < 0.0 ? 0.0 : (next > cap ? cap : next);
}

inline double loss_at(double slack, double cap, double ridge) {
    const double lost = ridge > 0.0 ? slack * slack / (2.0 * ridge) : cap * slack;
    return (slack > 0.0) & (cap > 0.0) ? lost : 0.0;
}

// All of these: the best alpha, and the projected gradient and the loss at the old one.
inline Step coordinate_step(double alpha, double margin, double cap, double ridge, double curvature) {
    const Slope s = slope_at(alpha, margin, cap, ridge);
    return {best_alpha(alpha, s.gradient, cap, curvature), s.violation, loss_at(1.0 - margin, cap, ridge)};
}

} // namespace wellsvm::WELLSVM_ISA
