"""Where the numbers that the claims of juarez2022 show are computed anew: a route in high precision for each."""

import juarez2022_routes as exact
from mpmath import exp, expm1, log, mpf

CERTIFICATES = {
    "definition-2.2": {
        "sum to {} up to {},": exact.keeps,
        "the truth has probability {} <": lambda: exact.keep(mpf("0.1"), 5),
    },
    "theorem-4.1": {
        "the exact loss is {},": lambda: exact.sign_loss(mpf(1), mpf(1)),
        "delta = {} is left": lambda: exact.sign_delta(mpf(1)),
        "up to {} here": exact.worst_excess,
    },
    "theorem-4.1-allocation": {"have {} to {} times": exact.allocation_ratios},
    "theorem-4.3-k-2": {"and {} at 0.98": lambda: exact.noise_delta(mpf("0.5"), mpf(1), mpf(2), mpf("0.98"))},
    "theorem-4.3-allocation": {
        "saves {}% of the variance next to a minority of 1%, {}% next": lambda: [
            exact.saving(s) for s in ("0.01", "0.001")
        ],
        "between {} and {} next to 4.41%, {} and {} next to 1%, {} and {} next to 0.1%": lambda: [
            *exact.window(44_100, "5", "5.9"),
            *exact.window(10_000, "3.7", "10.6"),
            *exact.window(1_000, "3.5", "16.1"),
        ],
    },
    "theorem-4.3-other-k": {
        "is {}, {} and {} for k": lambda: [exact.report_ratio(k) for k in (mpf(2) / 3, mpf(1), mpf(3))],
        "delta = {}, {} and {} |": lambda: [exact.claimed_delta(k) for k in (mpf(2) / 3, mpf(1), mpf(3))],
    },
    "appendix-b-privacy": {
        "is {} at 0.02, {} at 0.21, {} at 0.71, {} at 1, {} at 2.56": lambda: [
            exact.published_delta(e) for e in ("0.02", "0.21", "0.71", "1", "2.56")
        ],
        "carry {} to {};": lambda: [exact.published_delta("0.71"), exact.published_delta("0.02")],
        "total variation distance {},": lambda: exact.published_delta("0.02", "0"),
        "where {} would be private": lambda: expm1(mpf("0.02")) / (exp(mpf("0.02")) + 1),
    },
    "section-4-range-of-k": {
        "gives {} for 10": lambda: exact.equation_1(exact.published_split(mpf(10))[0], mpf(10), mpf(2))
    },
    "section-4-sequential-composition": {
        "M_R loses {} and M_L with k = 2 {},": lambda: [exact.sign_loss(mpf(1), mpf(1)), mpf("1.5")],
        "equation (1) gives {}, composition": lambda: exact.equation_1(mpf(1), mpf(3), mpf(2) / 3),
    },
    "equation-19": {"is {} to {} times": exact.equation_19},
    "equation-20": {"is {} to {} times": exact.equation_20},
    "theorem-5.4-unbiased": {
        "bias {}, {}, {} and {} standard": lambda: [exact.folded_bias(mpf(g)) for g in ("0", "0.5", "1", "2")],
        "error {}, {}, {} and {} of the sum": lambda: [exact.folded_square(mpf(g)) for g in ("0", "0.5", "1", "2")],
        "show {} on average": exact.ten_and_ten,
        "at 0.1 show {} |": lambda: exact.folded_bias(mpf(0), exact.standard_deviation("M_R", "0.1")),
    },
    "figure-1-crossings": {
        "cross at {} and {} and nowhere": exact.published_crossings,
        "they cross once, at {} |": lambda: exact.crossing("M_R", "M_L", "3.13"),
        "| {} and {} for the": exact.published_crossings,
        "for all epsilon < {} (": lambda: exact.crossing("M_R", "M_L", "3.13"),
        "itself is for epsilon < {})": lambda: exact.crossing("M_R", "M_L", "2.8", nu2=0),
    },
    "figure-1-larger-budgets": {
        "4/K: {} times and {} at 5, {} times and {} at 10, {} times and {} at 20": lambda: [
            number for budget in (5, 10, 20) for number in exact.bounds_part(mpf(budget))
        ],
    },
    "section-5-k-2": {
        "is {}, {}, {}, {}, {} and {} times": lambda: [
            exact.variance("M_L published", mpf(e)) / exact.variance("M_L", mpf(e))
            for e in ("0.1", "1", "2.56", "3", "4", "6.32")
        ],
        "of k = 2 at 0.1, 1, 2.56, 3, 4 and 6.32; Table 1's 2.56 would be {} with": lambda: exact.kept_budget(
            "M_L", "0.01"
        ),
        "2 < epsilon < {} and": lambda: exact.crossing("M_L published", "M_L", "5.6"),
        "all are 0 up to {};": lambda: exact.crossing("M_L published", "M_L", "10.8", nu2=0),
    },
    "equation-21": {"that bound is {}": lambda: log(2 / mpf("0.7")) + 10 - 10 / mpf("0.7")},
    "appendix-b-error": {
        "at epsilon = 1 is {} by the source and {} at k = {};": lambda: exact.best_k("1"),
        "at 1.9 {} and {} at k = {};": lambda: exact.best_k("1.9"),
    },
    "figure-3": {"{} at 2/3, {} at 0.2": exact.figure_3},
    "figure-2-small-groups": {
        "epsilon 1: {}, {}, {}, {} and {} times": lambda: [exact.minority(True, s) for s in exact.SHARES],
        "(k = 2): {}, {}, {}, {} and {};": lambda: [exact.minority(False, s) for s in exact.SHARES],
        "share {} between 10 and 5%, {} below": exact.exponents,
    },
    "figure-2-misestimated-sizes": {
        "the variance is {} times": lambda: exact.wrong_sizes("0.5", 20_000)[1],
        "a gap of {}:": lambda: exact.wrong_sizes("0.5", 20_000)[0],
        "error is {} times as large for K = 2e4 and {} times for 1e7": lambda: [
            exact.wrong_sizes("0.5", n)[2] for n in (20_000, 10**7)
        ],
        "the gap shown is {};": lambda: exact.wrong_sizes("0.1", 20_000)[0],
        "make the variance {} or {} times": exact.wrong_sizes_of_unlike_groups,
    },
    "table-1": {"M_R {}, M_L {} |": lambda: [exact.chebyshev_budget(name, 10**5, "0.1") for name in ("M_R", "M_L")]},
    "table-1-dashes": {
        "(smallest {})": exact.smallest_gain,
        "alpha=0.01 takes {} nats (exactly {})": lambda: [
            budget(10**6, "0.01") for budget in (exact.hoeffding_budget, exact.binomial_budget)
        ],
        "alpha=0.001 takes {} nats (exactly {})": lambda: [
            budget(10**8, "0.001") for budget in (exact.hoeffding_budget, exact.binomial_budget)
        ],
        "8 ln 200 = {} (Hoeff": lambda: 8 * log(200),
    },
    "table-2-bounds": {
        "M_R at 0.01: {}, M_L at 0.01: {} |": lambda: [5 * exact.standard_deviation(m, "0.01") for m in ("M_R", "M_L")]
    },
    "figure-4": {
        "mean squared error {} by": exact.figure_4,
        "nu^2 = 0: {})": lambda: exact.figure_4(mpf(0)),
        "whose error is {}": lambda: exact.figure_4() + exact.figure_4(mpf(0)),
    },
    "table-2-errors": {
        "M_R {}, {}, {}, {}; M_L": exact.errors("M_R"),
        "; as stated {}, {}, {}, {}. A": exact.errors("M_L"),
        "in the code {}, {}, {}, {}; as": exact.errors("code"),
    },
    "appendix-d-rates": {"{} - {} = {}, not": exact.rates},
    "appendix-d-synthetic-data": {
        "where {}% of": lambda: mpf(2500) / 87,
        "probability e^{};": exact.equal_counts,
        "differ by {}, not": lambda: exact.number("mean_fnr_female") - exact.number("mean_fnr_male"),
    },
    "appendix-d-bounds": {
        "is {} for M_R and {} for M_L at 0.01": lambda: [exact.bound_ratio(m, "0.01") for m in ("M_R", "M_L")],
        "at 0.01, {} to {} over": exact.all_bound_ratios,
    },
    "appendix-d-orders-of-magnitude": {"factor of {} to {} over": exact.all_bound_ratios},
    "section-5-percentage-points": {
        "M_R takes {} and": lambda: exact.kept_budget("M_R", "0.01"),
        "(k = 2) {} nats": lambda: exact.kept_budget("M_L", "0.01"),
        "and takes {} and {}": lambda: [exact.kept_budget(name, "0.02") for name in ("M_R", "M_L")],
    },
    "section-6-dropouts": {"show a gap of {},": lambda: mpf("0.8") * (mpf("0.1") - mpf("0.3"))},
}
EXCEPTIONS = {
    "table-2-standard-deviations": "prints chances counted in simulated sets of ten runs",
    "proposition-5.2": "prints no number but whole ones",
    "theorem-5.4-variance": "prints whole numbers only",
}
