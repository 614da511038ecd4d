import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatCount, formatDuration, progress } from "./progress.js";

function recorder(terminal?: { columns: number }) {
	let milliseconds = 5_000_000;
	const written: string[] = [];
	const stream = { write: (text: string) => written.push(text), isTTY: !!terminal, ...terminal };
	return {
		stream,
		clock: () => milliseconds,
		pass: (seconds: number) => {
			milliseconds += seconds * 1000;
		},
		/** What was written since the last time. */
		take: () => written.splice(0).join(""),
	};
}

const fields = [
	["loss", "2.314"],
	["tokens/s", "12.3k"],
] as const;

describe("not in a terminal", () => {
	test("plain lines, one every ten seconds, and the last", () => {
		const { stream, clock, pass, take } = recorder();
		const line = progress(stream, { clock });
		const update = (done: number) => line.update({ label: "step", done, total: 100 });
		update(0);
		expect(take()).toBe("step 0/100\n");
		pass(9);
		update(9);
		expect(take()).toBe("");
		pass(1);
		update(10);
		expect(take()).toBe("step 10/100  1m 30s left\n");
		pass(9.9);
		update(99);
		update(100);
		expect(take()).toBe("");
		line.finish("trained");
		expect(take()).toBe("step 100/100\ntrained\n");
	});

	test("the last line is not printed twice, and notes are lines", () => {
		const { stream, clock, take } = recorder();
		const line = progress(stream, { clock, everySeconds: 0 });
		line.update({ label: "read", done: 7 });
		line.note("saved");
		line.finish();
		expect(take()).toBe("read 7\nsaved\n");
	});

	test("prints nothing without an update", () => {
		const { stream, clock, take } = recorder();
		progress(stream, { clock }).finish();
		expect(take()).toBe("");
	});
});

describe("time left", () => {
	test("work before this process does not count in the rate", () => {
		const { stream, clock, pass, take } = recorder();
		const line = progress(stream, { clock, everySeconds: 0 });
		const update = (done: number) =>
			line.update({ label: "epoch 3/20  step", done, total: 1200, fields });
		update(410);
		expect(take()).toBe("epoch 3/20  step 410/1200  loss 2.314  12.3k tokens/s\n");
		pass(0.634);
		update(412);
		expect(take()).toBe("epoch 3/20  step 412/1200  loss 2.314  12.3k tokens/s  4m 10s left\n");
	});

	test("a steady rate is exact, however the updates fall", () => {
		const { stream, clock, pass, take } = recorder();
		const line = progress(stream, { clock, everySeconds: 0 });
		line.update({ label: "x", done: 0, total: 1000 });
		for (const done of [1, 1, 4, 50, 52]) {
			pass((done - Math.floor((clock() - 5_000_000) / 2000)) * 2);
			line.update({ label: "x", done, total: 1000 });
		}
		expect(take().split("\n").at(-2)).toBe("x 52/1000  31m 36s left");
	});

	test("adapts to a change of rate", () => {
		const { stream, clock, pass, take } = recorder();
		const line = progress(stream, { clock, everySeconds: 0 });
		let done = 0;
		const run = (seconds: number, rate: number) => {
			for (let second = 0; second < seconds; second++) {
				pass(1);
				done += rate;
				line.update({ label: "x", done, total: done + 1000 });
			}
			return take().split("\n").at(-2)?.split("  ")[1];
		};
		line.update({ label: "x", done: 0, total: 1000 });
		expect(run(300, 10)).toBe("1m 40s left");
		expect(run(1, 100)).toBe("1m 17s left");
		expect(run(300, 100)).toBe("10s left");
	});

	test("work that starts again is measured again", () => {
		const { stream, clock, pass, take } = recorder();
		const line = progress(stream, { clock, everySeconds: 0 });
		for (const [done, seconds] of [
			[0, 0],
			[100, 1],
			[0, 1],
			[1, 1],
		] as const) {
			pass(seconds);
			line.update({ label: "x", done, total: 100 });
		}
		expect(take().split("\n").slice(2)).toEqual(["x 0/100", "x 1/100  1m 39s left", ""]);
	});
});

describe("in a terminal", () => {
	test("one line, rewritten in place; notes stay above it", () => {
		const { stream, clock, pass, take } = recorder({ columns: 80 });
		const line = progress(stream, { clock });
		line.update({ label: "step", done: 1 });
		expect(take()).toBe("\rstep 1\x1b[K");
		pass(0.05);
		line.update({ label: "step", done: 2 });
		expect(take()).toBe("");
		pass(0.05);
		line.update({ label: "step", done: 3, fields: [["loss", "1.5"]] });
		expect(take()).toBe("\rstep 3  loss 1.5\x1b[K");
		line.note("saved");
		expect(take()).toBe("\r\x1b[Ksaved\n\rstep 3  loss 1.5\x1b[K");
		line.update({ label: "step", done: 4 });
		line.finish("done");
		expect(take()).toBe("\rstep 4\x1b[K\ndone\n");
	});

	test("in a narrow terminal, drops fields, then the time left, then the end of the label", () => {
		const at = (columns: number) => {
			const { stream, clock, pass, take } = recorder({ columns });
			const line = progress(stream, { clock });
			line.update({ label: "step", done: 0, total: 100, fields });
			pass(1);
			take();
			line.update({ label: "step", done: 50, total: 100, fields });
			return take().slice(1, -3);
		};
		expect(at(51)).toBe("step 50/100  loss 2.314  12.3k tokens/s  1s left");
		expect(at(48)).toBe("step 50/100  loss 2.314  1s left");
		expect(at(30)).toBe("step 50/100  1s left");
		expect(at(20)).toBe("step 50/100");
		expect(at(8)).toBe("step 5…");
	});

	test("never wraps, whatever the text", () => {
		const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constant("糖尿病\n🫀"));
		fc.assert(
			fc.property(text, text, fc.integer({ min: 1, max: 60 }), (label, value, columns) => {
				const { stream, clock, take } = recorder({ columns });
				progress(stream, { clock }).update({ label, done: 1, fields: [["x", value]] });
				const shown = take().slice(1, -3);
				expect(shown).not.toMatch(/\p{Cc}/u);
				const wide = shown.match(/[糖尿病🫀]/gu)?.length ?? 0;
				const marks = shown.match(/[\p{Mn}\p{Me}]/gu)?.length ?? 0;
				expect([...shown].length + wide - marks).toBeLessThan(columns);
			}),
		);
	});
});

test.each([
	[0, "0s"],
	[0.35, "350ms"],
	[0.9996, "1s"],
	[12.4, "12s"],
	[59.6, "1m 00s"],
	[250, "4m 10s"],
	[3599.7, "1h 00m"],
	[3900, "1h 05m"],
	[86_399, "1d 00h"],
	[183_600, "2d 03h"],
	[-5, "-5s"],
	[Number.NaN, "?"],
])("formatDuration(%d) is %s", (seconds, text) => {
	expect(formatDuration(seconds)).toBe(text);
});

test.each([
	[0, "0"],
	[999, "999"],
	[12.345, "12.3"],
	[999.96, "1.00k"],
	[1000, "1.00k"],
	[12_345, "12.3k"],
	[999_600, "1.00M"],
	[7_500_000, "7.50M"],
	[-2_000_000_000, "-2.00G"],
	[3e12, "3.00T"],
])("formatCount(%d) is %s", (count, text) => {
	expect(formatCount(count)).toBe(text);
});
