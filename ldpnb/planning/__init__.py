"""How many users, what budget, which mechanism: plans for frequencies, means and gaps.

`questions` states what is known and what is asked, `design` who reports and what is released of it; `candidates` lists
the mechanisms for a question, `solve` answers it for each, `show` prints the answers and `command` is the command line.
Underneath, `errors` bounds how often an estimate is off, over all data, from exact `binomials` and `cumulants`. The
formulas are those of `ldpnb.accuracy` and `ldpnb.privacy`; what is new here holds at the worst data rather than on
average.

Surveys have designs: `survey` asks and `survey_plan` answers, `survey_words` understands the command's words and
pilots, `survey_files` reads tables of strata, clusters, classes and weights, `survey_questions` shares a
budget among questions, `power` plans a test, and `survey_command` is their command line.
Their formulas are in `ldpnb.surveys`.
"""
