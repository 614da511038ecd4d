import { expect, test } from "vitest";
import { random } from "../base/random.js";
import { byPatientSchema } from "./evaluation.js";
import { type ByPatient, packed, statisticsOf, unpacked } from "./rows.js";

const stream = random(3);
const drawn = (count: number) => Float64Array.from({ length: count }, () => stream.normal());
const weights = [2, 0, 1, 3, 1];

/** As a file would give it back. */
const again = (own: ByPatient) =>
	unpacked(byPatientSchema.parse(JSON.parse(JSON.stringify(packed(own)))));

test("reads back per-patient sums exactly", () => {
	const ratios = { nats: { parts: drawn(5), wholes: Float64Array.of(1, 2, 3, 4, 5) } };
	expect(again({ ratios })).toEqual({ ratios });
	const { nats } = statisticsOf(again({ ratios }));
	expect(nats!(weights)).toBe(statisticsOf({ ratios }).nats!(weights));
});

test("reads back the ranks of scores, which is all the metrics need", () => {
	const labelled = {
		targets: Uint8Array.of(1, 0, 1, 0, 0, 1),
		patients: Int32Array.of(0, 1, 2, 2, 3, 4),
		count: 5,
	};
	for (const scores of [[[0.5, -2, 0.5, 7, 0.25, 0.25]], [drawn(6), drawn(6), drawn(6)]]) {
		const own = { scored: { labelled, scores } };
		const [before, after] = [statisticsOf(own), statisticsOf(again(own))];
		expect(Object.keys(after)).toEqual(["auprc", "auroc"]);
		for (const metric of ["auprc", "auroc"])
			for (const some of [[1, 1, 1, 1, 1], weights])
				expect(after[metric]!(some)).toBe(before[metric]!(some));
	}
});
