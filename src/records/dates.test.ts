import { expect, test } from "vitest";
import { daysFromText } from "./dates.js";
import { openStore, quoted } from "./store.js";
import { temporaryFolder } from "./testing/temporary-folder.js";

test("dates become days since 1970, and what is no date becomes nothing", async () => {
	const store = await openStore({ folder: await temporaryFolder(), memory: 2 ** 27 });
	const day = async (text: string, format?: string) =>
		(await store.all(`SELECT ${daysFromText(quoted(text), format)} AS day`))[0]?.day;
	expect(await day("1970-01-02")).toBe(1);
	expect(await day(" 2020-01-01 12:00:00 ")).toBe(18262.5);
	expect(await day("2020-01-01T12:00:00.000Z")).toBe(18262.5);
	expect(await day("2020-01-01T12:00:00+06:00")).toBe(18262.25);
	expect(await day("20200101")).toBe(18262);
	expect(await day("1969-12-31")).toBe(-1);
	expect(await day("31/01/2020", "%d/%m/%Y")).toBe(18292);
	for (const text of [
		"2020-13-01",
		"2020-02-30",
		"31/01/2020",
		"",
		"soon",
		"12",
		"epoch",
		"infinity",
		" -infinity",
	])
		expect(await day(text)).toBe(null);
	store.close();
});
