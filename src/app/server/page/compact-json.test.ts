import fc from "fast-check";
import { expect, test } from "vitest";
import { compactJson } from "./compact-json.js";

test("keeps short values on one line", () => {
	const events = Array(3).fill({ code: "401", date: "2010-03-01" });
	expect(compactJson({ sex: "female", events, at: ["+1y"] })).toBe(`{
  "sex": "female",
  "events": [
    { "code": "401", "date": "2010-03-01" },
    { "code": "401", "date": "2010-03-01" },
    { "code": "401", "date": "2010-03-01" }
  ],
  "at": [ "+1y" ]
}`);
});

test("is the same value", () => {
	const safe = fc.jsonValue().filter((value) => !/\\n/.test(JSON.stringify(value)));
	fc.assert(
		fc.property(safe, (value) => {
			expect(JSON.parse(compactJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
		}),
	);
});
