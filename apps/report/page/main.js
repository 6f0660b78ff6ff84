// The page, from top to bottom.
showWords();
addTable();
addSpeedup();
addTime();
addScaling();
addPhases();
addRates();
addCriteria();
addQuality();
addConvergence();
addReplay();
addPublished();
addEnvironment();
if (window.location.hash === '#figures') exportFigures();
