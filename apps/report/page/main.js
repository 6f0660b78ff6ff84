// The page, from top to bottom.
showWords();
addTable();
addSpeedup();
addTime();
addPhases();
addRates();
addQuality();
addConvergence();
addReplay();
addPublished();
addEnvironment();
if (window.location.hash === '#figures') exportFigures();
