import { expect, test } from "vitest";
import { openStore } from "../records/store.js";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { determiningCodes } from "./labels.js";

/** Labels of 40 patients at time 10, and records [patient, time, code]. */
async function found(
	isPositive: (patient: number) => boolean,
	records: (patient: number) => readonly (readonly [time: number | null, code: string])[],
) {
	const patients = Array.from({ length: 40 }, (_, at) => at);
	const store = await openStore({ folder: await temporaryFolder(), memory: 2 ** 27, threads: 1 });
	try {
		await store.create("item", "subject VARCHAR, moment DOUBLE, code VARCHAR");
		await store.append(
			"item",
			patients.flatMap((patient) =>
				records(patient).map(([moment, code]) => ({ subject: `${patient}`, moment, code })),
			),
		);
		await store.create("task_label", "subject VARCHAR, moment DOUBLE, value INTEGER");
		await store.append(
			"task_label",
			patients.map((patient) => ({
				subject: `${patient}`,
				moment: 10,
				value: Number(isPositive(patient)),
			})),
		);
		return await determiningCodes(store);
	} finally {
		store.close();
	}
}

const isTenth = (patient: number) => patient < 10;

test("names codes that are present, or absent, where the label is positive", async () => {
	const codes = await found(isTenth, (patient) => [
		[1, "everybody"],
		...(patient < 10 ? ([[2, "always"]] as const) : []),
		...(patient < 10 ? ([[10, "at the time"]] as const) : []),
		...(patient < 10 ? ([[11, "too late"]] as const) : []),
		...(patient < 9 || patient === 39 ? ([[2, "nine of ten"]] as const) : []),
		...(patient < 8 ? ([[2, "eight of ten"]] as const) : []),
		...(patient < 20 ? ([[2, "too common"]] as const) : []),
		...(patient < 10 ? [] : ([[null, "never"]] as const)),
	]);
	expect(codes).toEqual([
		{ code: "always", when: "present", labels: 10, positive: 10, positives: 10 },
		{ code: "at the time", when: "present", labels: 10, positive: 10, positives: 10 },
		{ code: "nine of ten", when: "present", labels: 10, positive: 9, positives: 10 },
		{ code: "never", when: "absent", labels: 10, positive: 10, positives: 10 },
	]);
});

test("does not take a code that nearly everybody has for one that determines the label", async () => {
	const codes = await found(
		(patient) => patient >= 5 && patient < 39,
		() => [[1, "everybody"]],
	);
	expect(codes).toEqual([]);
});

test("names none where few labels are positive or negative", async () => {
	const mark = (patient: number) => (patient < 4 ? ([[1, "rare"]] as const) : []);
	expect(await found((patient) => patient < 4, mark)).toEqual([]);
	expect(await found((patient) => patient >= 4, mark)).toEqual([]);
});
