/** How people write what they ask about, on the command line and in requests. */
export { type CodeBook, type FoundCode, findCode } from "./find-code.js";
export { type GridOptions, gridOf } from "./grid.js";
export {
	dayText,
	type Moment,
	momentForms,
	momentJson,
	momentOf,
	momentsOf,
	spanDays,
	timesOf,
} from "./moments.js";
export { CodeRefused, TimeRefused } from "./refused.js";
export { editWarnings, warningsFor } from "./warnings.js";
