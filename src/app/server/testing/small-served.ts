import { random } from "../../../base/random.js";
import { builtInMap } from "../../../data/codes/index.js";
import type { Manifest } from "../../../data/cohort/index.js";
import { vocabularyOf } from "../../../data/cohort/vocabulary.js";
import { type HazardSettings, hazardSettings } from "../../../model/hazards/settings.js";
import { modelById } from "../../../model/index.js";
import { smallSettings } from "../../../model/testing/small-settings.js";
import type { ServedModel } from "../api/predictions.js";

/** PheCodes of the built-in map. */
const codes = ["401", "250", "428", "272", "495", "530", "745"];

/** A small untrained model with PheCodes. */
export function smallServed(
	filters: Partial<Manifest["filters"]> = {},
	nameOf = (code: string) => `name of ${code}`,
	hazards: HazardSettings | null = hazardSettings.parse({
		groups: [{ name: "heart or vessels", tokens: [5, 7] }],
	}),
): ServedModel {
	const model = modelById("trajgpt");
	const vocabulary = vocabularyOf(
		codes.map((code) => ({
			...{ code, kind: "diagnosis", system: "PheCode", name: nameOf(code) },
			...{ category: "some", count: 9 },
		})),
	);
	const config = model.config.parse({
		...{ ...smallSettings.trajgpt, vocab: vocabulary.size, hazards },
	});
	const draw = random(5);
	const weights = new Map(
		[...model.init(config, random(3))].map(([name, { shape, data }]) => [
			name,
			{ shape, data: data.map((value) => value + 0.2 * draw.normal()) },
		]),
	);
	const map = builtInMap();
	const manifest = {
		codes: { map: map.source, level: map.level, keptUnmapped: false },
		filters: {
			...{ dedup: "day", keep: "last", maxRecords: null, minCount: 1, drugs: "none" },
			...{ deathToken: false, ...filters },
		},
		source: { axis: "dates" },
		splits: { seed: 0, parts: [80, 10, 10] },
	} as unknown as Manifest;
	return {
		...{ model, config, weights, manifest, vocabulary, map },
		...{ step: 12, versions: { trajgpt: "0.0.0" } },
	};
}

export { partsOf } from "../engine/engine.js";

/** Invented events in order of time, each on a different day. */
export function someEvents(count: number, seed = 1) {
	const draw = random(seed);
	let day = 14_000;
	return Array.from({ length: count }, () => {
		day += 1 + draw.integer(60);
		const date = new Date(day * 86_400_000).toISOString().slice(0, 10);
		return { code: codes[draw.integer(codes.length)] as string, date };
	});
}
