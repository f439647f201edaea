// One step of dual coordinate descent on one variable: the same for both geometries.
#pragma once

namespace wellsvm::WELLSVM_ISA {

struct Step {
    double alpha, violation, loss;
};

// The best alpha with all others fixed, a clipped Newton step; the projected gradient and the loss at the old one.
inline Step coordinate_step(double alpha, double margin, double cap, double ridge, double curvature) {
    const double slack = 1.0 - margin;
    const double gradient = slack - ridge * alpha;
    double violation = gradient < 0 ? -gradient : gradient;
    if ((alpha <= 0.0 && gradient < 0.0) || (alpha >= cap && gradient > 0.0)) violation = 0.0;
    double next = curvature > 0.0 ? alpha + gradient / curvature : (gradient > 0.0 ? cap : 0.0);
    next = next < 0.0 ? 0.0 : (next > cap ? cap : next);
    double loss = 0.0;
    if (slack > 0.0 && cap > 0.0) loss = ridge > 0.0 ? slack * slack / (2.0 * ridge) : cap * slack;
    return {next, violation, loss};
}

} // namespace wellsvm::WELLSVM_ISA
