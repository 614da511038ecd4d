import { expect, test } from "vitest";
import { markdownMarkup } from "./markdown.js";
import { factsText, noFacts, populationText } from "./panel.js";
import { csvOf, placeCaption } from "./picture.js";
import { durationText, momentText, timeCells } from "./words.js";

test("CSV tables have a row per object, quoted where necessary, and empty cells for what is missing", () => {
	const rows = [{ a: 1.5, b: 'x "y", z' }, { a: null, b: "line\nend" }, { a: 2 }];
	expect(csvOf(rows)).toBe('a,b\n1.5,"x ""y"", z"\n,"line\nend"\n2,');
});

test("a model card becomes HTML, and its text stays text", () => {
	const text =
		"---\nlicence: mit\n---\n# Title\n\nSome **text**\ngoes <on>.\n\n- one\n  more\n- two, [a link](x)\n\n| a | b |\n| --- | --- |\n| 1 |  |\n\n```\ncode | x\n```\n";
	expect(markdownMarkup(text).text.replaceAll("\n", "")).toBe(
		'<h3>Title</h3><p>Some <strong>text</strong> goes &lt;on&gt;.</p><ul><li>one more</li><li>two, a link</li></ul><section class="scroll-table wide" aria-label="a, b" tabindex="0"><table><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead><tbody><tr><td>1</td><td></td></tr></tbody></table></section><pre><code>code | x</code></pre>',
	);
});

test("formats times, and durations", () => {
	const clock = { axis: "dates", birth: 0 } as const;
	expect(momentText(clock, 10957.5)).toBe("2000-01-01, age 30.0");
	expect(momentText({ ...clock, birth: null }, 10957.5)).toBe("2000-01-01");
	expect(momentText({ axis: "days" }, 300)).toBe("day 300");
	expect([0.5, 0.999, 1, 1.6, 21, 200, 2000, 9000].map(durationText)).toEqual([
		"12 h",
		"1 day",
		"1 day",
		"2 days",
		"21 days",
		"7 months",
		"5.5 years",
		"25 years",
	]);
});

test("formats a day as its date", () => {
	const clock = { axis: "dates" } as const;
	const wrong = Array.from({ length: 40_000 }, (_, day) => day).filter(
		(day) => momentText(clock, day) !== new Date(day * 86_400_000).toISOString().slice(0, 10),
	);
	expect(wrong).toEqual([]);
});

test("copied tables have columns for days, and for date and age if they are known", () => {
	const clock = { axis: "dates", birth: 0 } as const;
	expect(timeCells(clock, 10957.5)).toEqual({
		time_days: 10957.5,
		date: "2000-01-01",
		age_years: 30,
	});
	expect(timeCells({ axis: "days" }, 12.345)).toEqual({ time_days: 12.35 });
});

test("wraps a caption into lines that fit", () => {
	const caption = ["one", "two", "three"].map((text) => ({ text, colour: "red" }));
	const { items, height } = placeCaption(caption, 100);
	expect(items.map(({ text, y }) => [text, y])).toEqual([
		["one", 42],
		["two", 42],
		["three", 60],
	]);
	expect(items[0]?.x).toBe(items[2]?.x);
	expect(height).toBe(69);
	expect(placeCaption([{ text: "a".repeat(200) }], 120).items[0]?.text).toMatch(/^a+…$/);
});

test("a paragraph of a caption has lines of its own, none of them cut", () => {
	const text = "probability of a first record after 2006-02-09, before death";
	const { items } = placeCaption([{ text: "solid" }, { text, paragraph: true }], 160);
	expect(
		items
			.slice(1)
			.map((item) => item.text)
			.join(" "),
	).toBe(text);
	expect(items.length).toBeGreaterThan(3);
	expect(new Set(items.map(({ y }) => y)).size).toBe(items.length);
	const [first, after] = placeCaption([{ text, paragraph: true }, { text: "solid" }], 900).items;
	expect(after!.y).toBeGreaterThan(first!.y);
});

test("a picture says whose it is, when, of which run, and that people are simulated", () => {
	expect(factsText(noFacts)).toBe("");
	expect(
		factsText({ population: "simulated", patient: "Sample 1", date: "2006-02-09", run: "1a" }),
	).toBe("simulated · Sample 1 · predicted on 2006-02-09 · run 1a");
	expect(factsText({ ...noFacts, run: "1a" })).toBe("run 1a");
});

test("a patient from a file is not called simulated", () => {
	expect(populationText("simulated", false)).toBe("simulated");
	expect(populationText("simulated", true)).toBe("model of a simulated population");
	expect(populationText(null, true)).toBeNull();
});
