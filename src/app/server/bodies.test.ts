import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonBytes, listBytes, RawJson } from "./bodies.js";

test("an object becomes its JSON; lists that are JSON already are inserted unchanged", () => {
	fc.assert(
		fc.property(
			fc.dictionary(fc.string(), fc.jsonValue()),
			fc.array(fc.jsonValue()),
			(value, list) => {
				const raw = listBytes(list.map((element) => Buffer.from(JSON.stringify(element))));
				expect(jsonBytes({ ...value, raw: new RawJson(raw), after: undefined }).toString()).toBe(
					JSON.stringify({ ...value, raw: list }),
				);
			},
		),
	);
});
