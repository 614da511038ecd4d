import fc from "fast-check";
import { expect, test } from "vitest";
import { dayInOrder, orderOf } from "./dates.js";

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
