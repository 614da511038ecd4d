import fc from "fast-check";
import { expect, test } from "vitest";
import { pastFeatures, writePast } from "../model/hazards/landmarks.js";
import { growingPast } from "./futures.js";

const record = fc.record({ token: fc.integer({ min: 5, max: 9 }), after: fc.nat(300) });

test("a past that grows has the features of the whole history on every day", () => {
	fc.assert(
		fc.property(
			fc.boolean(),
			fc.array(record),
			fc.array(fc.record({ token: record, later: fc.nat(400) })),
			(hasBirth, known, further) => {
				const tokens = hasBirth ? [4] : [];
				const times = hasBirth ? [0.25] : [];
				let day = 500;
				const note = ({ token, after }: { token: number; after: number }) => {
					day += after;
					tokens.push(token);
					times.push(day + 0.5);
				};
				known.forEach(note);
				const past = growingPast({ tokens: [...tokens], times: [...times] });
				const [found, expected] = [
					new Float32Array(2 * pastFeatures),
					new Float32Array(pastFeatures),
				];
				const check = () => {
					past.write(found, pastFeatures, day);
					writePast(expected, { tokens, times }, tokens.length, day);
					expect(found.subarray(pastFeatures)).toEqual(expected);
				};
				check();
				for (const { token, later } of further) {
					note(token);
					past.add(token.token, times.at(-1) as number);
					check();
					day += later;
					check();
				}
				expect(found.subarray(0, pastFeatures)).toEqual(new Float32Array(pastFeatures));
			},
		),
	);
});
