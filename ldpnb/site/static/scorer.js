// How the search ranks what it finds: a section with these words in its heading comes first.
var Scorer = {
  score: ([, , anchor, , score]) => (anchor ? score + 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
