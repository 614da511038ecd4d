import { ratioOf, type Statistic } from "../bootstrap.js";

/** Mean over patients. */
export const meanOf = (values: Float64Array | readonly number[]): Statistic =>
	ratioOf(values, new Float64Array(values.length).fill(1));
