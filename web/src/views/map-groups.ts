import { afterYears, type RiskTable } from "../engine/risks.js";

/** Groups in order, and the group of a value. */
interface Bins {
	readonly order: readonly string[];
	groupOf(value: number): string;
}

/** Bins with these lower ends and names. */
const binsOf = (named: readonly (readonly [from: number, name: string])[]): Bins => ({
	order: named.map(([, name]) => name),
	groupOf: (value) => (named.findLast(([from]) => value >= from) ?? named[0])?.[1] ?? "",
});

export const frequencyBins = binsOf([
	[0, "fewer than 100 records"],
	[100, "100 to 299"],
	[300, "300 to 999"],
	[1000, "1,000 to 2,999"],
	[3000, "3,000 or more"],
]);

export const ageBins = binsOf([
	[0, "under 20"],
	[20, "20 to 39"],
	[40, "40 to 59"],
	[60, "60 to 79"],
	[80, "80 and over"],
]);

export const recordBins = binsOf([
	[0, "fewer than 20 records"],
	[20, "20 to 49"],
	[50, "50 to 99"],
	[100, "100 to 199"],
	[200, "200 or more"],
]);

/** Within five years. */
export const riskBins = binsOf([
	[0, "risk under 0.5 %"],
	[0.005, "0.5 to 2 %"],
	[0.02, "2 to 5 %"],
	[0.05, "5 to 10 %"],
	[0.1, "10 % or more"],
]);
export const recordedGroup = "recorded already";

/** The group of a code by the risk of a patient within five years. */
export function riskGroup(table: RiskTable, token: number): string {
	if (table.recordedAt(token) !== null) return recordedGroup;
	return riskBins.groupOf(afterYears(table.curve(token), 5) ?? 0);
}
