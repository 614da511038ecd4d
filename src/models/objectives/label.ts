import { input, mul, softplus, sub, sum } from "../../graph/index.js";
import { weightsOf } from "../../nn/weights.js";
import { labelHead } from "../heads/label.js";
import type { States } from "../model.js";
import type { Objective } from "../objective.js";
import { meanState, poolFeeds } from "../pooling.js";

/** −log p of yes or no for each row, whose last event is the query: its token is 1 or 0. */
export const label: Objective = {
	streams: () => ["slots"],
	terms(_config, parameters, [states]) {
		const pooled = meanState((states as States).hidden); // [rows, dim]
		const logOdds = labelHead.outputs(weightsOf(parameters), pooled);
		const answers = input("label.answers", logOdds.shape);
		const counts = input("label.counts", logOdds.shape);
		const nats = sub(softplus(logOdds), mul(answers, logOdds));
		return [{ name: "label", total: sum(mul(nats, counts)) }];
	},
	feeds(_config, batch, _draw, fill) {
		const { length, lengths, tokens } = batch;
		const answers = Float32Array.from(lengths, (events, row) =>
			events === 0 ? 0 : (tokens[row * length + events - 1] as number),
		);
		const counts = Float32Array.from(lengths, (events) => Math.min(1, events));
		return {
			feeds: {
				...{ ...fill("slots"), ...poolFeeds(batch) },
				...{ "label.answers": answers, "label.counts": counts },
			},
			targets: { label: counts.reduce((a, b) => a + b, 0) },
		};
	},
};
