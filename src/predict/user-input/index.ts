/** Times and codes as users write them, on the command line and in requests. */

export { inField, QuestionError } from "./errors.js";
export { type CodeBook, type FoundCode, findCode } from "./find-code.js";
export {
	dayText,
	lastRecord,
	type Moment,
	momentForms,
	momentJson,
	momentOf,
	momentsOf,
	readSpan,
	readTime,
	readTimes,
	type SpanInput,
	spanDays,
	spanText,
	type Timed,
	type TimeInput,
	timesOf,
	usualHorizon,
	usualHorizons,
	usualYears,
} from "./moments.js";
export { ageText, patientText } from "./patient-text.js";
export { searchCodes } from "./search-codes.js";
export { type GridOptions, timeGrid } from "./time-grid.js";
export { editWarnings, nothingRecorded, warningsFor } from "./warnings.js";
