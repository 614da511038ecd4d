import { readFileSync } from "node:fs";

/** Values of the HoTPP benchmark's own code. Arrays are windows × events, and × labels for scores. */
export const golden = JSON.parse(
	readFileSync(new URL("../fixtures/tmap.json", import.meta.url), "utf8"),
) as {
	readonly tmap: readonly {
		readonly horizon: number;
		readonly delta: number;
		readonly classes: number;
		readonly initialTimes: readonly number[];
		readonly targetMask: readonly (readonly number[])[];
		readonly targetTimes: readonly (readonly number[])[];
		readonly targetLabels: readonly (readonly number[])[];
		readonly predictedMask: readonly (readonly number[])[];
		readonly predictedTimes: readonly (readonly number[])[];
		readonly predictedScores: readonly (readonly (readonly number[])[])[];
		readonly tmap: number;
	}[];
	readonly otd: readonly {
		readonly insertCost: number;
		readonly deleteCost: number;
		readonly targetTimes: readonly (readonly number[])[];
		readonly targetLabels: readonly (readonly number[])[];
		readonly predictedTimes: readonly (readonly number[])[];
		readonly predictedLabels: readonly (readonly number[])[];
		readonly distance: number;
	}[];
};
