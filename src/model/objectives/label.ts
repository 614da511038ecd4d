import type { History } from "../../data/cohort/index.js";
import type { Feeds } from "../../engine/runtime/index.js";
import { input } from "../../engine/tensor/index.js";
import { labelLogOdds, meanState, poolFeeds, riskInput } from "../heads.js";
import type { EventBatch, Objective } from "../model.js";

/** A history whose last event is the query: its token is 1 or 0. */
export interface LabelledHistory extends History {
	/** How often the label counts. */
	readonly weight: number;
	/** Log-odds of the model's own risk, if the head reads them. */
	readonly risk: number;
}

const queries = (batch: EventBatch) =>
	Array.from(
		{ length: batch.rows },
		(_, row) => batch.sources?.[row]?.history as LabelledHistory | undefined,
	);

/** What a head that reads risks is fed. */
export const riskFeeds = (batch: EventBatch): Feeds => ({
	[riskInput]: Float32Array.from(queries(batch), (query) => query?.risk ?? 0),
});

/** −log p of yes or no for each row, whose last event is the query. */
export const labelObjective = (readsRisks: boolean): Objective => ({
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
				...(readsRisks && riskFeeds(batch)),
				"label.answers": answers,
				"label.counts": counts,
			},
			targets: { label: counts.reduce((a, b) => a + b, 0) },
		};
	},
});
