import { expect, test } from "vitest";
import { initialDate } from "./patient.js";

test("a file is predicted from its last record, a sample after 50 events or two thirds of fewer", () => {
	const many = Array.from({ length: 80 }, (_, at) => ({ id: `${at}`, token: 5, time: at }));
	const dates = (sample: string | null) =>
		[80, 60, 9, 1, 0].map((count) => initialDate({ sample, events: many.slice(0, count) }));
	expect(dates(null)).toEqual([79, 59, 8, 0, 0]);
	expect(dates("s1")).toEqual([49.5, 49.5, 5.5, 1, 0]);
});
