import { expect, test } from "vitest";
import { editWarnings } from "./warnings.js";

test("an edit that makes a history longer than any of the training is warned of", () => {
	const reach = { longestDays: 3652.5, oldestDays: null };
	const day = (date: string) => Date.parse(date) / 86_400_000;
	const recent = [day("2010-01-01"), day("2015-01-01")];
	expect(editWarnings(recent, { reach })).toEqual([]);
	expect(editWarnings([day("1700-01-01"), ...recent], { reach })).toEqual([
		"the edited history spans 315 years, longer than any the model was trained on; the longest spans 10 years: check the times of --add and --move",
	]);
	expect(editWarnings([], { reach })).toEqual([]);
	const unknown = { reach: undefined };
	expect(editWarnings([day("1900-01-01"), ...recent], unknown)).toEqual([]);
	expect(editWarnings([day("1700-01-01"), ...recent], unknown)).toHaveLength(1);
});
