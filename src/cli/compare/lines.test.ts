import { describe, expect, test } from "vitest";
import type { Dataset } from "../../cohort/index.js";
import { lineNames, linesNamed, waysOf } from "./lines.js";
import { lineNotes } from "./notes.js";

const options = { preset: "tiny", maxLength: 160 };

describe("lines of a comparison", () => {
	test("are all models, and TrajGPT without what is ours beside its default", () => {
		const all = linesNamed("all", options);
		expect(all.map(({ id }) => id)).toEqual(lineNames);
		expect(all).toHaveLength(16);
		const [first, plain] = linesNamed("trajgpt, trajgpt-plain", options);
		expect(plain).toEqual({
			...first,
			id: "trajgpt-plain",
			label: "plain TrajGPT",
			settings: { ...first?.settings, gap: "rotary", copies: 0 },
		});
		// The preset of the paper is plain already.
		const paper = linesNamed("all", { ...options, preset: "paper" });
		expect(paper.map(({ id }) => id)).not.toContain("trajgpt-plain");
	});

	test("of unknown names are refused with the known ones", () => {
		expect(() => linesNamed("trajgpt,grud", options)).toThrow(
			'there is no model "grud"; known models: trajgpt, trajgpt-plain, timelygpt, ',
		);
	});

	test("forecast in the usual way of their model, or in every one", () => {
		const entries = linesNamed("trajgpt,informer,gpt2", options);
		const ways = waysOf(
			entries,
			({ id }) => id === "trajgpt",
			() => undefined,
		);
		expect(ways.map(({ label, method }) => [label, method])).toEqual([
			["TrajGPT (time-specific)", "time-specific"],
			["TrajGPT (auto-regressive)", "auto-regressive"],
			["Informer", "by-order"],
			["GPT-2", "auto-regressive"],
		]);
	});

	test("are noted with what their numbers rest on", () => {
		const dataset = {
			vocabulary: { size: 30 },
			manifest: { timeUnit: { days: 30 } },
		} as unknown as Dataset;
		const entries = linesNamed("trajgpt,informer,patchtst,gpt2", options);
		expect(lineNotes(dataset, entries, ["next", "forecast", "chf"], {})).toEqual([
			"forecast, time-specific (asked at the time of each event): TrajGPT",
			"forecast, by-order (asked by how many events ahead each is): Informer, PatchTST",
			"forecast, auto-regressive (steps that feed back what they foretold): GPT-2",
			"forecast: the times of all questions of a patient, later ones too, have a say in each answer of Informer; in the others the time of the question alone, or none",
			"labelled tasks: of a history the last events are seen, at most 512 (without fine-tuning all): TrajGPT; 160: GPT-2; 60: PatchTST; 52: Informer",
		]);
		expect(lineNotes(dataset, entries, ["next"], {})).toEqual([]);
	});
});
