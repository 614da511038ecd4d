import { expect, test } from "vitest";
import { trainingLandmarks } from "./index-days.js";

test("index days lie where a patient is at risk", () => {
	const history = {
		...{ id: "a", sex: "female" as const, birthEvents: 1 as const, death: null },
		...{ tokens: Int32Array.of(3), times: Float64Array.of(0) },
		observed: [{ start: 10_000, end: 10_900 }],
	};
	const days = [...trainingLandmarks(history, 1, 365, 3)].map(({ day }) => day);
	expect(days).toHaveLength(3);
	for (const day of days) {
		expect(day).toBeGreaterThanOrEqual(10_365);
		expect(day).toBeLessThan(10_900);
	}
	expect([...trainingLandmarks(history, 1, 1000, 3)]).toEqual([]);
});
