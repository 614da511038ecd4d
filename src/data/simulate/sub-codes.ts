import type { Random } from "../../base/random.js";
import { conditions } from "./conditions.js";
import type { State } from "./state.js";
import { positionOf } from "./tables.js";

/** Weights 1, 1/2, 1/3, …, the most common code first. */
const cumulative: readonly Float64Array[] = conditions.map(({ icd9 }) => {
	let sum = 0;
	const sums = Float64Array.from(icd9, (_, i) => {
		sum += 1 / (i + 1);
		return sum;
	});
	return sums.map((value) => value / sum);
});

const diabetes = positionOf("250");
const renal = ["585", "580"].map(positionOf);
const retinal = [positionOf("362")];
const neural = ["356", "357"].map(positionOf);
const lastAgeOfType1 = 27;

/** Draws the ICD-9-CM code of a record. */
export function subCode(
	condition: number,
	state: State,
	day: number,
	onInsulin: boolean,
	stream: Random,
): string {
	const mark = stream.uniform();
	if (condition === diabetes) return diabetesCode(state, day, onInsulin, mark);
	const sums = cumulative[condition]!;
	let i = 0;
	while (i < sums.length - 1 && mark >= sums[i]!) i++;
	return conditions[condition]!.icd9[i]!;
}

/** The type depends on age, complications on other records, and insulin use on prescriptions. */
function diabetesCode(state: State, day: number, onInsulin: boolean, mark: number): string {
	if (onInsulin && mark < 0.12) return "V5867";
	const type = state.ageAt(day) <= lastAgeOfType1 ? "1" : "0";
	const known = (codes: readonly number[]) => codes.some((code) => state.count[code]! > 0);
	const share = (mark - 0.12) / 0.88;
	if (!onInsulin && type === "0" && state.count[diabetes]! < 3 && mark < 0.15) return "79029";
	if (share < 0.12 && known(renal)) return `2504${type}`;
	if (share < 0.24 && known(retinal)) return `2505${type}`;
	if (share < 0.36 && known(neural)) return `2506${type}`;
	if (share < 0.55) return type === "1" ? "25003" : "25002";
	return type === "1" ? "25001" : "25000";
}
