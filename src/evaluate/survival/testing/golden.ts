import { readFileSync } from "node:fs";

/** Values of R's survival and riskRegression. */
export const golden = JSON.parse(
	readFileSync(new URL("../fixtures/survival.json", import.meta.url), "utf8"),
) as {
	readonly time: readonly number[];
	readonly status: readonly number[];
	readonly predicted365: readonly number[];
	readonly predicted1096: readonly number[];
	readonly at: readonly number[];
	readonly aalenJohansenOnset: readonly number[];
	readonly kaplanMeierAny: readonly number[];
	readonly kaplanMeierCensoring: readonly number[];
	readonly auc: readonly number[];
	readonly brier: readonly number[];
};
