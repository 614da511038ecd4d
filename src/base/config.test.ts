import { describe, expect, test } from "vitest";
import { z } from "zod";
import { checkConfig, settingsIn } from "./config.js";
import { InputError } from "./errors.js";

const schema = z
	.strictObject({
		layers: z.int().min(1).max(64).default(8).describe("how deep"),
		width: z.int().min(2),
		rate: z.number().positive().max(10).default(0.5),
		share: z.number().min(0).max(1).optional(),
		decay: z.enum(["event", "time"]).default("time"),
		name: z.string().optional(),
	})
	.refine(({ width, layers }) => width % layers === 0, {
		path: ["width"],
		error: "a multiple of layers",
	});

const check = (value: unknown) => checkConfig(schema, value, "model small");

test("valid settings are returned with defaults", () => {
	expect(check({ width: 16 })).toEqual({ layers: 8, width: 16, rate: 0.5, decay: "time" });
});

describe("an error names the field, the value and what is allowed", () => {
	test.each([
		[{ width: 8, layers: 0 }, "layers: got 0; expected a whole number from 1 to 64"],
		[{ width: 8, layers: 65 }, "layers: got 65; expected a whole number from 1 to 64"],
		[{ width: 8, layers: 2.5 }, "layers: got 2.5; expected a whole number from 1 to 64"],
		[{ width: 8, layers: "two" }, 'layers: got "two"; expected a whole number from 1 to 64'],
		[{ width: 8, layers: Number.POSITIVE_INFINITY }, "layers: got Infinity; expected a whole"],
		[{ width: 1 }, "width: got 1; expected a whole number from 2"],
		[{}, "width: got nothing; expected a whole number from 2"],
		[{ width: 8, rate: 0 }, "rate: got 0; expected a number above 0 to 10"],
		[{ width: 8, rate: Number.NaN }, "rate: got NaN; expected a number above 0 to 10"],
		[{ width: 8, share: -1 }, "share: got -1; expected a number from 0 to 1"],
		[{ width: 8, decay: "day" }, 'decay: got "day"; expected one of event, time'],
		[{ width: 8, name: 3 }, "name: got 3; expected a string"],
		[{ width: 9 }, "width: got 9; expected a multiple of layers"],
		[
			{ width: 8, depth: 3 },
			"depth: no such setting; known: layers, width, rate, share, decay, name",
		],
	])("%j", (value, message) => {
		expect(() => check(value)).toThrow(InputError);
		expect(() => check(value)).toThrow(`model small: ${message}`);
	});

	test("all errors at once", () => {
		expect(() => check({ width: 1, rate: 11 })).toThrow(
			"model small: width: got 1; expected a whole number from 2; " +
				"rate: got 11; expected a number above 0 to 10",
		);
	});

	test("whatever type the value has", () => {
		expect(() => check(undefined)).toThrow(/^model small: /);
		expect(() => check([])).toThrow(/^model small: /);
	});
});

test("lists the settings of a schema", () => {
	const [layers, width, rate, , decay] = settingsIn(schema);
	expect(layers).toEqual({
		name: "layers",
		description: "how deep",
		allowed: "a whole number from 1 to 64",
		default: 8,
	});
	expect(width).toMatchObject({ name: "width", default: undefined });
	expect(rate).toMatchObject({ allowed: "a number above 0 to 10", default: 0.5 });
	expect(decay).toMatchObject({ allowed: "one of event, time", default: "time" });
});
