/** Times and codes as users write them, on the command line and in requests. */

export { UnknownCodeError, UnusableTimeError } from "./errors.js";
export { type CodeBook, type FoundCode, findCode } from "./find-code.js";
export {
	dayText,
	type Moment,
	momentForms,
	momentJson,
	momentOf,
	momentsOf,
	spanDays,
	spanText,
	timesOf,
} from "./moments.js";
export { searchCodes } from "./search-codes.js";
export { type GridOptions, timeGrid } from "./time-grid.js";
export { editWarnings, nothingRecorded, warningsFor } from "./warnings.js";
