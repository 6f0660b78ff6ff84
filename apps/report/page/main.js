// The page, from top to bottom.
showWords();
addTable();
addSpeedup();
addTime();
addPhases();
addRates();
addConvergence();
addReplay();
addPublished();
addEnvironment();
