import fc from "fast-check";
import { expect, test } from "vitest";
import { dayInOrder, dayOfText, daysFromText, isFarOff, orderOf } from "./dates.js";
import { quoted } from "./sql.js";
import { type Store, withStore } from "./store.js";

const inStore = (work: (store: Store) => Promise<void>) => withStore({ memory: 2 ** 27 }, work);

test("converts dates to days since 1970, and rejects other texts", () =>
	inStore(async (store) => {
		const day = async (text: string, format?: string) =>
			(await store.all(`SELECT ${daysFromText(quoted(text), format)} AS day`))[0]?.day;
		expect(await day("1970-01-02")).toBe(1);
		expect(await day(" 2020-01-01 12:00:00 ")).toBe(18262.5);
		expect(await day("2020-01-01T12:00:00.000Z")).toBe(18262.5);
		expect(await day("2020-01-01T12:00:00+06:00")).toBe(18262.25);
		expect(await day("20200101")).toBe(18262);
		expect(await day("2020/01/01")).toBe(18262);
		expect(await day("2020-1-1")).toBe(18262);
		expect(await day("2020/1/1 6:00:00")).toBe(18262.25);
		expect(await day("1969-12-31")).toBe(-1);
		expect(await day("31/01/2020", "%d/%m/%Y")).toBe(18292);
		const others =
			"2020-13-01,2020-02-30,31/01/2020,,soon,12,epoch,infinity, -infinity,1/2/20,1/02/12,12/31/99,01/02/2020,12345-01-01,202001-01-01,2020-01-31 (BC),2020-01/31".split(
				",",
			);
		for (const text of others) expect(await day(text)).toBe(null);
		expect(await day("infinity", "%d/%m/%Y")).toBe(null);
	}));

test("rejects implausible years, and accepts those of shifted dates", () =>
	inStore(async (store) => {
		const far = async (date: string) =>
			(await store.all(`SELECT ${isFarOff(daysFromText(quoted(date)))} AS far`))[0]?.far;
		for (const date of ["0001-02-20", "0020-01-01", "1799-12-31", "2301-01-01", "9999-12-31"])
			expect(await far(date)).toBe(true);
		for (const date of ["1800-01-01", "2020-01-01", "2201-12-31", "2300-12-31 23:59:59"])
			expect(await far(date)).toBe(false);
		const [other] = await store.all(
			`SELECT ${isFarOff("'inf'::DOUBLE")} AS infinite, ${isFarOff("'nan'::DOUBLE")} AS none, ${isFarOff("NULL::DOUBLE")} AS unknown`,
		);
		expect(other).toEqual({ infinite: true, none: true, unknown: null });
	}));

test("SQL and the function agree on any text", () =>
	inStore(async (store) => {
		const number = (digits: number) =>
			fc.integer({ min: 0, max: 99 }).map((n) => `${n}`.padStart(digits, "0"));
		const year = fc
			.oneof(fc.integer({ min: 1801, max: 2299 }), fc.constantFrom(1750, 2350))
			.map(String);
		const [separator, gap] = [fc.constantFrom("-", "-", "/", ""), fc.constantFrom(" ", "T", "  ")];
		const small = fc.integer({ min: 0, max: 13 }).map(String);
		const part = fc.oneof(
			small,
			small.map((text) => text.padStart(2, "0")),
			number(2),
		);
		const zone = fc.constantFrom("", "", "Z", "+02:00", "-05:30");
		const clock = fc.tuple(gap, part, part, fc.constantFrom("", ":00", ":59.25"), zone);
		const text = fc
			.tuple(year, separator, part, separator, part, fc.option(clock), fc.constantFrom("", " "))
			.map(([y, a, m, b, d, time, blank]) => {
				const [space, hour, minute, second, offset] = time ?? [];
				return `${blank}${y}${a}${m}${b}${d}${time ? `${space}${hour}:${minute}${second}${second ? offset : ""}` : ""}`;
			});
		await fc.assert(
			fc.asyncProperty(fc.array(text, { minLength: 200, maxLength: 200 }), async (texts) => {
				const days = daysFromText("text");
				const found = await store.all<{ text: string; day: number | null }>(
					`SELECT text, CASE WHEN NOT ${isFarOff(days)} THEN ${days} END AS day
				FROM (SELECT unnest([${texts.map(quoted).join(", ")}]) AS text)`,
				);
				for (const { text, day } of found)
					expect([text, dayOfText(text) ?? null]).toEqual([text, day]);
			}),
			{ numRuns: 10, endOnFailure: true },
		);
	}));

const day = (text: string) => Date.parse(text) / 86_400_000;

test.each([
	["31.01.2020", "day first", "2020-01-31"],
	["3.4.2020", "day first", "2020-04-03"],
	["3/4/2020", "month first", "2020-03-04"],
	["03-04-2020", "day first", "2020-04-03"],
	["31/01/2020 12:30", "day first", "2020-01-31T12:30:00Z"],
	["1/31/2020 12:05:00 AM", "month first", "2020-01-31T00:05:00Z"],
	["1/31/2020 1:05 PM", "month first", "2020-01-31T13:05:00Z"],
	["04-MAR-2019", "month first", "2019-03-04"],
	["4 March 2019", "day first", "2019-03-04"],
] as const)("reads %s, %s", (text, order, iso) => {
	expect(dayInOrder(text, order)).toBeCloseTo(day(iso), 9);
});

test.each(["31.02.2020", "31.01.20", "1.2/2020", "2020-01-31", "4 Mars 2019x", "", "13/13/2020"])(
	"refuses %j",
	(text) => {
		for (const order of ["day first", "month first"] as const)
			expect(dayInOrder(text, order)).toBeUndefined();
	},
);

test.each([
	["13/04/2020", "day first"],
	["04/13/2020", "month first"],
	["03/04/2020", "either"],
	["03.04.2020", "day first"],
	["04-MAR-2019", "day first"],
	["04/04/2020", undefined],
	["2020-04-03", undefined],
	["nonsense", undefined],
])("%s says %s", (text, order) => {
	expect(orderOf(text)).toBe(order);
});

test("a date that is written in an order is read back in it", () => {
	const dates = fc.integer({ min: -20_000, max: 40_000 });
	fc.assert(
		fc.property(dates, fc.constantFrom(".", "/", "-"), (own, sign) => {
			const [year, month, date] = new Date(own * 86_400_000).toISOString().slice(0, 10).split("-");
			expect(dayInOrder([date, month, year].join(sign), "day first")).toBe(own);
			expect(dayInOrder([month, date, year].join(sign), "month first")).toBe(own);
		}),
	);
});
