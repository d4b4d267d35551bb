// A program of somebody else: how often may a draft from p stand for a draw from q?

#include <spectr/base/version.h>
#include <spectr/transport/distribution.h>

#include <cstdio>

int main() {
  const auto p = spectr::Distribution::from_weights({1, 1});
  const auto q = spectr::Distribution::from_weights({1, 3});
  const double acceptance = 1 - spectr::total_variation(p, q);
  std::printf("spectr %s: acceptance %.3f\n", spectr::version().data(), acceptance);
}
