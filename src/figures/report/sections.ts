import { cohortSection } from "./cohort-section.js";
import { calibrationSection, forecastSection } from "./forecast-section.js";
import { labelledSections } from "./labelled-section.js";
import { learnedSection, learningSection } from "./learned-section.js";
import { limitsSection } from "./limits-section.js";
import { patientsSection } from "./patients-section.js";
import { provenanceSection } from "./provenance-section.js";
import { readingSection } from "./reading-section.js";
import type { Report } from "./report.js";
import type { Section } from "./section.js";

/** In reading order: cohort, results, single patients, what was learned, provenance. */
export const sectionsOf = (report: Report): readonly Section[] => [
	cohortSection(report),
	forecastSection(report),
	...labelledSections(report),
	...calibrationSection(report),
	...patientsSection(report),
	learnedSection(report),
	...learningSection(report),
	provenanceSection(report),
	readingSection(report),
	limitsSection(report),
];
