/** Times and codes as users write them, on the command line and in requests. */

export { type CodeBook, type FoundCode, findCode, searchCodes } from "./find-code.js";
export {
	ageText,
	dayText,
	type GridOptions,
	inField,
	lastRecord,
	type Moment,
	momentForms,
	momentJson,
	momentOf,
	momentsOf,
	patientText,
	QuestionError,
	readSpan,
	readTime,
	readTimes,
	type SpanInput,
	spanDays,
	spanText,
	type Timed,
	type TimeInput,
	timeGrid,
	timesOf,
	usualHorizon,
	usualHorizons,
	usualYears,
} from "./moments.js";
export { editWarnings, nothingRecorded, warningsFor } from "./warnings.js";
