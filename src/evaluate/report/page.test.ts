import { parseHTML } from "linkedom";
import { describe, expect, test } from "vitest";
import { svgOf } from "../charts/svg.js";
import { testDocument } from "../charts/testing/drawn.js";
import type { Report } from "./index.js";
import { reportPage } from "./index.js";
import {
	exampleForecast,
	exampleInsulin,
	exampleNext,
	exampleReport,
	exampleStory,
} from "./testing/example-report.js";

const voids = new Set(["meta", "!doctype"]);

/** Tags that are not closed, or closed out of order. */
function unbalanced(page: string): string[] {
	const open: string[] = [];
	const wrong: string[] = [];
	const text = page.replace(/<style>[\s\S]*?<\/style>/, "");
	for (const [, close, name = "", rest = ""] of text.matchAll(/<(\/?)([!a-zA-Z][\w-]*)([^>]*)>/g)) {
		if (voids.has(name.toLowerCase()) || rest.endsWith("/")) continue;
		if (close === "") open.push(name);
		else if (open.pop() !== name) wrong.push(name);
	}
	return [...wrong, ...open];
}

const document = testDocument();
const pageOf = (report: Report) =>
	reportPage(report, (figure, ids) => svgOf(figure, document, { ids }));
const documentOf = (page: string) => parseHTML(page).document;
const words = (page: string) =>
	(documentOf(page).querySelector("body")?.textContent ?? "").replace(/\s+/g, " ");
const text = (more: Partial<Report>) => words(pageOf(exampleReport(more)));

describe("the page", () => {
	const page = pageOf(exampleReport());
	const document = documentOf(page);

	test("is well formed, its ids all differ, and it needs neither network nor script", () => {
		expect(unbalanced(page)).toEqual([]);
		const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
		expect(new Set(ids).size).toBe(ids.length);
		expect(page).not.toMatch(/undefined|NaN|Infinity|\[object/);
		expect(page.replaceAll('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(/https?:/);
		expect(page).not.toMatch(/<script|<link|<img|@import|url\((?!#)|\son\w+=/i);
	});

	test("leads with first records and limits, and folds the rest", () => {
		const headings = [...document.querySelectorAll("main h2")];
		const ids = (isFolded: boolean) =>
			headings
				.filter(
					(heading) => isFolded === (heading.closest("details")?.hasAttribute("open") === false),
				)
				.map(({ id }) => id)
				.join(" ");
		expect(ids(false)).toBe("findings onset calibration-of-risks subgroups decisions limits");
		expect(ids(true)).toBe(
			"other-findings before fifths codes cohort forecasts task-insulin calibration patients learned learning made reading",
		);
		expect(document.querySelectorAll("h1")).toHaveLength(1);
	});

	test("tells people before a diagnosis, first records by horizon, and subgroups", () => {
		const said = words(page);
		expect(said).toContain(
			"p000008, a woman, first recorded at age 61.8: a year earlier, the model gave a 5-year risk of 8.0 %; people of the same age and sex had 2.2 %; the true risk was 8.9 %.",
		);
		expect(said).toContain("p000009: a year earlier, the model gave a 5-year risk of 3.0 %.");
		expect(said).toMatch(/within 1 year, 32 frequent codes TrajGPT\s*4\.350/);
		expect(said).toMatch(/within 5 years, all 210 codes, rare ones among them TrajGPT\s*5\.350/);
		expect(said).toMatch(/female\s*20\s*3\s*3\.400\s*3\.400\s*0\.640\s*1\.08/);
	});

	test("compares with predictions of a file, on its codes", () => {
		const evaluations = exampleReport().evaluations.map((evaluation) => {
			const { rows, onset } = evaluation;
			const [model] = rows;
			if (!onset || !model) return evaluation;
			const metrics = { "logLoss 5y": { value: 3.2, low: 3.1, high: 3.3 } };
			const difference = { "logLoss 5y": { value: -0.2, low: -0.3, high: -0.1 } };
			const comparison = {
				label: "xgb",
				horizons: [{ years: 5, codes: 10, allCodes: 10 }],
				notes: ["xgb has 10 of the 32 frequent codes"],
				rows: [model, { who: "file" as const, label: "xgb", metrics }],
				differences: [{ row: model.label, than: "xgb", metrics: difference }],
			};
			return { ...evaluation, comparisons: [comparison] };
		});
		const said = text({ evaluations });
		expect(said).toContain("Beside predictions of xgb, on its codes");
		expect(said).toMatch(/within 5 years, 10 frequent codes TrajGPT\s*4\.350.*?xgb\s*3\.200/);
		expect(said).toMatch(/Within 5 years: Patient by patient, by log loss.* better than xgb/);
	});

	test("has accessible tables and scrolling parts", () => {
		const tables = [...document.querySelectorAll("table")];
		expect(tables).toHaveLength(8);
		for (const table of tables) {
			expect(table.querySelector("caption")?.textContent).toMatch(/\w/);
			for (const header of table.querySelectorAll("th"))
				expect(header.getAttribute("scope")).toMatch(/^(row|col|rowgroup)$/);
			for (const row of table.querySelectorAll("tbody tr"))
				expect(row.querySelector("th")?.getAttribute("scope")).toMatch(/^row(group)?$/);
		}
		const scrolling = [...document.querySelectorAll('[tabindex="0"]')];
		expect(scrolling.length).toBe(tables.length + 13);
		for (const one of scrolling) {
			expect(one.getAttribute("role")).toBe("group");
			expect(one.getAttribute("aria-label")).toMatch(/\w/);
		}
	});

	test("draws at full size, explains each drawing, and recolours it on a dark page", () => {
		const figures = [...document.querySelectorAll("figure")];
		expect(figures.map(({ id }) => id.replace("figure-", "")).join(" ")).toBe(
			"onset-calibration onset-decisions onset-stories onset-by-fifth onset-codes dataset calibration trajectory-1 risk-1 codes patients memory learning",
		);
		for (const figure of figures) {
			const widths = [...figure.querySelectorAll("svg")].map((svg) => svg.getAttribute("width"));
			const isHalf = figure.classList.contains("half");
			const isBoth = figure.classList.contains("both");
			expect(widths).toEqual([isHalf ? "600" : "960", ...(isBoth ? ["360"] : [])]);
			expect(figure.querySelector("figcaption")?.textContent).toMatch(/\w\.$/);
		}
		expect(document.querySelectorAll("figure.half")).toHaveLength(2);
		expect(page).toContain('figure svg [fill="#ffffff"] { fill: #171b21; }');
	});

	test("prints the best of each measure bold, but never the oracle", () => {
		expect(document.querySelectorAll("tr.oracle .best, tr.history .best")).toHaveLength(0);
		expect(document.querySelectorAll("tr.model .best").length).toBeGreaterThan(0);
		const other = exampleForecast({ model: 0.4, history: 0.45, steps: 0.39, oracle: 0.6 });
		const worse = documentOf(pageOf(exampleReport({ evaluations: [other] })));
		expect(worse.querySelector(".best")?.closest("tr")?.getAttribute("class")).toBe("history");
	});
});

test("data is escaped everywhere", () => {
	const bad = `<b onclick="x">&amp; "é"</b>`;
	const story = exampleStory();
	const trajectory = { ...story.trajectory, patient: bad };
	const page = pageOf(
		exampleReport({
			name: bad,
			stories: { rule: bad, patients: [{ ...story, trajectory, target: bad }] },
			missing: [{ task: "next", what: bad, command: bad }],
			provenance: [{ title: bad, facts: [[bad, bad]] }],
		}),
	);
	expect(unbalanced(page)).toEqual([]);
	expect(page).not.toContain("<b onclick");
	expect(documentOf(page).querySelector("[onclick]")).toBeNull();
	expect(words(page)).toContain(bad);
	expect(words(page)).toContain("50 <events> are known");
});

test("a missing evaluation is named, with the command that computes it", () => {
	const page = pageOf(
		exampleReport({
			evaluations: [],
			missing: [
				{ task: "next", what: "the next record", command: "trajgpt evaluate RUN --task next" },
			],
			warnings: ["The evaluation “chf” was made with other weights."],
		}),
	);
	for (const part of [
		"Nothing was measured yet",
		"the next record: trajgpt evaluate RUN --task next",
		"Not everything was measured: the next record.",
		"was made with other weights",
	])
		expect(words(page)).toContain(part);
	expect(unbalanced(page)).toEqual([]);
	expect(text({})).not.toMatch(/[Nn]ot (everything was )?measured/);
});

test("missing figures leave no gap", () => {
	const { onsetPair: _, patientMap: __, memory: ___, ...rest } = exampleReport();
	const page = pageOf({ ...rest, evaluations: [], stories: { rule: "", patients: [] } });
	expect(documentOf(page).querySelectorAll("figure")).toHaveLength(3);
	expect(page).not.toMatch(/id="(calibration|patients|onset)"/);
	expect(unbalanced(page)).toEqual([]);
});

describe("sentences about data", () => {
	const story = exampleStory();
	const { risk: _, ...storyWithoutRisk } = story;
	const { memory, codes } = exampleReport();
	const storyOf = (more: Partial<typeof story>) => ({
		stories: { rule: "", patients: [{ ...story, ...more }] },
	});
	const riskOf = (first: number, last: number) => storyOf(exampleStory([first, last]));
	const shareOf = (share: number) => ({
		codes: { ...codes, agreement: { neighbours: 5, share, byChance: 0.06 } },
	});
	const [fast] = memory?.heads ?? [];
	const oracle = (label: string) => ({ who: "oracle" as const, label, metrics: {} });
	const withOracle = (evaluation: ReturnType<typeof exampleNext>, label = "reference model") => ({
		evaluations: [{ ...evaluation, rows: [...evaluation.rows, oracle(label)] }],
	});
	const next = exampleNext(3, 3.4, 0.01);
	const far = exampleForecast({ model: 0.5, history: 0.45, steps: 0.47, oracle: 0.6 });
	const real = exampleForecast({ model: 0.5, history: 0.45, steps: 0.47 });
	const insulin = exampleInsulin({ zero: 0.2, few: 0.3 });

	const cases: readonly (readonly [Partial<Report>, said: string, notSaid?: string])[] = [
		[withOracle(next), "no model can do better except by chance", "not an upper bound"],
		[
			withOracle(next, "reference model, policies unknown"),
			"not an upper bound",
			"except by chance",
		],
		[
			{ evaluations: [{ ...far, notes: ["reference model: by 256 sampled futures"] }] },
			"it predicts from 256 sampled futures: slightly below the best possible",
			"except by chance",
		],
		[withOracle({ ...insulin, task: "chf-paper" }), "the true rate of the code at the query time"],
		[withOracle(insulin), "What it predicts in the task “insulin”"],
		[{ simulated: true }, "say nothing about real people"],
		[{ simulated: true }, "simulated population, not real people"],
		[{ simulated: false, evaluations: [real] }, "must be evaluated again", "simulated"],
		[{ simulated: false }, "protect this page like the records"],
		[riskOf(0.01, 0.04), "within 5 years rose from 1.0 % to 4.0 %"],
		[riskOf(0.04, 0.01), "fell from 4.0 % to 1.0 %"],
		[riskOf(0.04, 0.041), "stayed near 4.1 %"],
		[storyOf({ trainedOn: true }), "This patient was in the training data"],
		[storyOf({ trainedOn: false }), "The model was shown", "in the training data"],
		[
			{ stories: { rule: "", patients: [storyWithoutRisk] } },
			"among the ten likeliest",
			"The predicted probability of a first record",
		],
		[shareOf(0.2), "Codes of a category lie together"],
		[shareOf(0.1), "closer to each other than by chance"],
		[shareOf(0.06), "do not lie together"],
		[
			{},
			"Of the 10 patients nearest to a patient in the model's space, 99 % have the same sex; of random patients, 50 %.",
		],
		[{ patientMap: undefined }, "What the model has learned", "the same sex"],
		[{}, "head 1 of layer 1 loses half of its state within 60 days"],
		[{}, "The rates differ widely"],
		[
			{
				memory: {
					...memory!,
					heads: [fast!, { layer: 2, head: 4, halfLives: [100] }],
					unit: "events",
				},
			},
			"head 4 of layer 2 within 100 events",
			"differ widely",
		],
	];
	for (const [report, said, notSaid] of cases)
		test(said, () => {
			// Figures say none of these sentences; drawing them takes most of the time of a page.
			const shown = notSaid ? text(report) : words(reportPage(exampleReport(report), () => ""));
			expect(shown).toContain(said);
			if (notSaid) expect(shown).not.toContain(notSaid);
		});
});
