import { monthDays, type TimeAxis } from "../../base/time.js";

export type Dedup = "none" | "day" | "month";

/** The number of the time within which two records of a patient and code are one; undefined where all count. */
export function periodsOf(dedup: Dedup, axis: TimeAxis): ((day: number) => number) | undefined {
	if (dedup === "none") return undefined;
	if (dedup === "day") return Math.floor;
	if (axis === "days") return (day) => Math.floor(day / monthDays);
	return (day) => {
		const date = new Date(Math.floor(Math.round(day * 86_400_000_000) / 1000));
		return 12 * date.getUTCFullYear() + date.getUTCMonth();
	};
}
