import { expect, test } from "vitest";
import { afterText, knownText, personText } from "./people-panel.js";

const person = {
	...{ person: 0, ageYears: 57, sex: "female" as const, known: [5, 6] },
	...{ after: [7, 8], afterDays: [146, 438], death: 700 },
};
const nameOf = (token: number) => `code ${token}`;

test("a person in words: who, what was known, and what followed", () => {
	expect(personText(person)).toBe("Female, age 57.0");
	expect(personText({ ...person, sex: null })).toBe("Person, age 57.0");
	expect(knownText(person, nameOf)).toBe("code 5, code 6");
	expect(knownText({ ...person, known: [] }, nameOf)).toBe("nothing recorded");
	expect(afterText(person, nameOf)).toBe(
		"code 7 (0.4 years), code 8 (1.2 years), death (1.9 years)",
	);
	expect(afterText(person, nameOf, 1)).toBe("code 7 (0.4 years), and 2 more");
	expect(afterText({ ...person, afterDays: [1, 36] }, nameOf, 2)).toBe(
		"code 7 (1 day), code 8 (36 days), and 1 more",
	);
	expect(afterText({ ...person, after: [], afterDays: [], death: null }, nameOf)).toContain(
		"nothing new",
	);
});
