import { parseHTML } from "linkedom";
import { describe, expect, test } from "vitest";
import { reportPage } from "./index.js";
import {
	exampleForecast,
	exampleInsulin,
	exampleNext,
	exampleReport,
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

const documentOf = (page: string) => parseHTML(page).document;
const words = (page: string) =>
	(documentOf(page).querySelector("body")?.textContent ?? "").replace(/\s+/g, " ");

describe("the page", () => {
	const page = reportPage(exampleReport());

	test("is well formed, and its ids are all different", () => {
		expect(unbalanced(page)).toEqual([]);
		const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
		expect(new Set(ids).size).toBe(ids.length);
		expect(page).not.toMatch(/undefined|NaN|Infinity|\[object/);
	});

	test("needs neither network nor script", () => {
		expect(page.replaceAll('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(/https?:/);
		expect(page).not.toMatch(/<script|<link|<img|@import|url\(|\son\w+=/i);
	});

	test("leads with first records and limits, and folds the rest", () => {
		const document = documentOf(page);
		const headings = [...document.querySelectorAll("main h2")];
		const folded = (heading: (typeof headings)[number]) =>
			heading.closest("details")?.hasAttribute("open") === false;
		const ids = (isFolded: boolean) =>
			headings.filter((heading) => folded(heading) === isFolded).map(({ id }) => id);
		expect(ids(false)).toEqual([
			"findings",
			"onset",
			"calibration-of-risks",
			"subgroups",
			"decisions",
			"limits",
		]);
		expect(ids(true)).toEqual([
			"other-findings",
			"before",
			"fifths",
			"codes",
			"cohort",
			"forecasts",
			"task-insulin",
			"calibration",
			"patients",
			"learned",
			"learning",
			"made",
			"reading",
		]);
		expect(document.querySelectorAll("h1")).toHaveLength(1);
	});

	test("tells two people before a diagnosis", () => {
		expect(words(page)).toContain(
			"p000008, a woman, first recorded at age 61.8: a year earlier, the model gave a 5-year risk of 8.0 %; people of the same age and sex had 2.2 %; the true risk was 8.9 %.",
		);
		expect(words(page)).toContain(
			"p000009: a year earlier, the model gave a 5-year risk of 3.0 %.",
		);
	});

	test("has first records at one and five years, and subgroups", () => {
		const text = words(page);
		expect(text).toMatch(/within 1 year, 32 codes TrajGPT\s*0\.650/);
		expect(text).toMatch(/within 5 years, 32 codes TrajGPT\s*0\.650/);
		expect(text).toMatch(/female\s*20\s*3\s*0\.640\s*0\.640\s*1\.08/);
	});

	test("has accessible tables: captions, and headers with a scope", () => {
		const document = documentOf(page);
		const tables = [...document.querySelectorAll("table")];
		expect(tables).toHaveLength(7);
		for (const table of tables) {
			expect(table.querySelector("caption")?.textContent).toMatch(/\w/);
			for (const header of table.querySelectorAll("th"))
				expect(header.getAttribute("scope")).toMatch(/^(row|col|rowgroup)$/);
			for (const row of table.querySelectorAll("tbody tr"))
				expect(row.querySelector("th")?.getAttribute("scope")).toMatch(/^row(group)?$/);
		}
	});

	test("scrolling parts are reachable by keyboard and have a short name", () => {
		const scrolling = [...documentOf(page).querySelectorAll('[tabindex="0"]')];
		expect(scrolling).toHaveLength(20);
		for (const one of scrolling) {
			expect(one.getAttribute("role")).toBe("group");
			expect(one.getAttribute("aria-label")).not.toMatch(/^about /);
		}
	});

	test("draws at full size, so that text stays readable, and explains each drawing", () => {
		const figures = [...documentOf(page).querySelectorAll("figure")];
		expect(figures).toHaveLength(14);
		for (const figure of figures) {
			const svg = figure.querySelector("svg");
			expect(svg?.getAttribute("viewBox")).toBe("0 0 960 10");
			expect(svg?.getAttribute("width")).toBe("960");
			expect(figure.querySelector("figcaption")?.textContent).toMatch(/^about /);
		}
		expect(documentOf(page).querySelectorAll("figure.both svg + svg")).toHaveLength(1);
	});

	test("recolours drawings on a dark page", () => {
		expect(page).toContain('figure svg [fill="#ffffff"] { fill: #171b21; }');
	});

	test("prints the best of each measure bold, but never the oracle", () => {
		const rows = documentOf(page).querySelectorAll("tr.oracle .best, tr.history .best");
		expect(rows).toHaveLength(0);
		expect(documentOf(page).querySelectorAll("tr.model .best").length).toBeGreaterThan(0);
		const other = exampleForecast({ model: 0.4, history: 0.45, steps: 0.39, oracle: 0.6 });
		const worse = documentOf(reportPage(exampleReport({ evaluations: [other] })));
		expect(worse.querySelector(".best")?.closest("tr")?.getAttribute("class")).toBe("history");
	});
});

describe("data is escaped", () => {
	const bad = `<b onclick="x">&amp; "é"</b>`;
	const { stories, manifest } = exampleReport();
	const page = reportPage(
		exampleReport({
			name: bad,
			manifest,
			stories: { rule: bad, patients: [{ ...stories.patients[0], id: bad, target: bad }] },
			missing: [{ task: "next", what: bad, command: bad }],
			provenance: [{ title: bad, facts: [[bad, bad]] }],
		}),
	);

	test("everywhere on the page", () => {
		expect(unbalanced(page)).toEqual([]);
		expect(page).not.toContain("<b onclick");
		expect(documentOf(page).querySelector("[onclick]")).toBeNull();
		expect(words(page)).toContain(bad);
		expect(words(page)).toContain("50 <events> are known");
	});
});

describe("a missing evaluation", () => {
	test("is named, with the command that computes it", () => {
		const page = reportPage(
			exampleReport({
				evaluations: [],
				missing: [
					{ task: "next", what: "the next record", command: "trajgpt evaluate RUN --task next" },
				],
				warnings: ["The evaluation “chf” was made with other weights."],
			}),
		);
		const text = words(page);
		expect(text).toContain("Nothing was measured yet");
		expect(text).toContain("the next record: trajgpt evaluate RUN --task next");
		expect(text).toContain("Not everything was measured: the next record.");
		expect(text).toContain("was made with other weights");
		expect(unbalanced(page)).toEqual([]);
	});

	test("is not mentioned if there is none", () => {
		expect(words(reportPage(exampleReport()))).not.toMatch(/[Nn]ot (everything was )?measured/);
	});

	test("missing figures leave no gap", () => {
		const { dataset, tokens } = exampleReport().figures;
		const { onsetPair: _, ...without } = exampleReport();
		const page = reportPage({
			...without,
			...{
				figures: { dataset, tokens },
				stories: { rule: "", patients: [] },
				agreement: { codes: undefined, patients: undefined },
				memory: undefined,
			},
		});
		expect(documentOf(page).querySelectorAll("figure")).toHaveLength(2);
		expect(page).not.toMatch(/id="(calibration|patients|learning)"/);
		expect(unbalanced(page)).toEqual([]);
	});
});

describe("sentences about data", () => {
	const text = (given: Parameters<typeof exampleReport>[0]) =>
		words(reportPage(exampleReport(given)));

	test("an oracle is called a bound only where it is one", () => {
		const oracle = (label: string) => ({ who: "oracle" as const, label, metrics: {} });
		const next = exampleNext(3, 3.4, 0.01);
		const told = (...labels: string[]) =>
			text({ evaluations: [{ ...next, rows: [...next.rows, ...labels.map(oracle)] }] });
		expect(told("reference model")).toContain("no model can do better except by chance");
		expect(told("reference model")).not.toContain("not an upper bound");
		expect(told("reference model, policies unknown")).toContain("not an upper bound");
		expect(told("reference model, policies unknown")).not.toContain("except by chance");
		const forecast = exampleForecast({ model: 0.5, history: 0.45, steps: 0.47, oracle: 0.6 });
		const far = text({
			evaluations: [{ ...forecast, notes: ["reference model: by 256 sampled futures"] }],
		});
		expect(far).toContain("it predicts from 256 sampled futures: slightly below the best possible");
		expect(far).not.toContain("except by chance");
		const insulin = exampleInsulin({ zero: 0.2, few: 0.3 });
		const asked = (task: string) =>
			text({
				evaluations: [{ ...insulin, task, rows: [...insulin.rows, oracle("reference model")] }],
			});
		expect(asked("chf-paper")).toContain("the true rate of the code at the query time");
		expect(asked("insulin")).toContain("What it predicts in the task “insulin”");
	});

	test("simulated people are called so", () => {
		expect(text({ simulated: true })).toContain("say nothing about real people");
		expect(text({ simulated: true })).toContain("simulated population, not real people");
		const forecast = exampleForecast({ model: 0.5, history: 0.45, steps: 0.47 });
		const real = text({ simulated: false, evaluations: [forecast] });
		expect(real).not.toContain("simulated");
		expect(real).toContain("must be evaluated again");
		expect(real).toContain("protect this page like the records");
	});

	test("a risk rises, falls or stays", () => {
		const told = (first: number, last: number) => {
			const [story] = exampleReport().stories.patients;
			return text({
				stories: { rule: "", patients: [{ ...story, risk: { first, last, horizon: "5 years" } }] },
			});
		};
		expect(told(0.01, 0.04)).toContain("within 5 years rose from 1.0 % to 4.0 %");
		expect(told(0.04, 0.01)).toContain("fell from 4.0 % to 1.0 %");
		expect(told(0.04, 0.041)).toContain("stayed near 4.1 %");
	});

	test("says that a patient was in the training data", () => {
		const [story] = exampleReport().stories.patients;
		const told = (trainedOn: boolean) =>
			text({ stories: { rule: "", patients: [{ ...story, trainedOn }] } });
		expect(told(true)).toContain("This patient was in the training data");
		expect(told(false)).not.toContain("in the training data");
	});

	test("a model without hazards has no risk to show", () => {
		const [story] = exampleReport().stories.patients;
		const { risk: _risk, riskCurve: _curve, ...without } = story;
		const page = text({ stories: { rule: "", patients: [without] } });
		expect(page).toContain("among the ten likeliest");
		expect(page).not.toContain("first record of");
	});

	test("categories lie together, or do not", () => {
		const told = (share: number) =>
			text({
				agreement: { codes: { neighbours: 5, share, byChance: 0.06 }, patients: undefined },
			});
		expect(told(0.2)).toContain("Codes of a category lie together");
		expect(told(0.1)).toContain("closer to each other than by chance");
		expect(told(0.06)).toContain("do not lie together");
	});

	test("says how often the nearest patients have the same sex, if it is known", () => {
		expect(text({})).toContain(
			"Of the 10 patients nearest to a patient in the model's space, 99 % have the same sex; of random patients, 50 %.",
		);
		const { codes } = exampleReport().agreement;
		expect(text({ agreement: { codes, patients: undefined } })).not.toContain("the same sex");
	});

	test("heads remember differently, or alike", () => {
		const { shortest, longest } = exampleReport().memory!;
		expect(text({})).toContain("head 1 of layer 1 loses half of its state within 60 days");
		expect(text({})).toContain("The rates differ widely");
		const near = { shortest, longest: { ...longest, halfLife: 100 }, unit: "events" } as const;
		expect(text({ memory: near })).toContain("The rates are similar");
		expect(text({ memory: near })).toContain("head 4 of layer 2 within 100 events");
	});
});
