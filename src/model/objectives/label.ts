import type { History } from "../../data/cohort/index.js";
import type { Feeds } from "../../engine/runtime/index.js";
import { input } from "../../engine/tensor/index.js";
import { labelLogOdds, meanState, offsetInput, poolFeeds } from "../heads.js";
import type { EventBatch, Objective } from "../model.js";

/** A history whose last event is the query: its token is 1 or 0. */
export interface LabelledHistory extends History {
	/** How often the label counts. */
	readonly weight: number;
	/** Log-odds of a regression, if the head reads them. */
	readonly offset: number;
}

const queries = (batch: EventBatch) =>
	Array.from(
		{ length: batch.rows },
		(_, row) => batch.sources?.[row]?.history as LabelledHistory | undefined,
	);

/** What a head that reads log-odds of a regression is fed. */
export const offsetFeeds = (batch: EventBatch): Feeds => ({
	[offsetInput]: Float32Array.from(queries(batch), (query) => query?.offset ?? 0),
});

/** −log p of yes or no for each row, whose last event is the query. */
export const labelObjective = (readsOffsets: boolean): Objective => ({
	streams: () => ["slots"],
	terms(_config, parameters, [states]) {
		const logOdds = labelLogOdds(parameters, meanState(states.hidden));
		const answers = input("label.answers", logOdds.shape);
		const counts = input("label.counts", logOdds.shape);
		const nats = logOdds.softplus().sub(answers.mul(logOdds));
		return [{ name: "label", total: nats.mul(counts).sum() }];
	},
	feeds(_config, batch, _draw, fill) {
		const { length, lengths, tokens } = batch;
		const answers = Float32Array.from(lengths, (events, row) =>
			events === 0 ? 0 : tokens[row * length + events - 1],
		);
		const asked = queries(batch);
		const counts = Float32Array.from(lengths, (events, row) =>
			events === 0 ? 0 : (asked[row]?.weight ?? 1),
		);
		return {
			feeds: {
				...fill("slots"),
				...poolFeeds(batch),
				...(readsOffsets && offsetFeeds(batch)),
				"label.answers": answers,
				"label.counts": counts,
			},
			targets: { label: counts.reduce((a, b) => a + b, 0) },
		};
	},
});
