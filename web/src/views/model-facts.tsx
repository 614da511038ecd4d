import { thousands } from "../../../src/base/thousands.js";
import { specialCount } from "../../../src/data/cohort/vocabulary.js";
import type { About } from "../data/about.js";
import { Panel } from "../parts/panel.js";
import { durationText } from "../parts/words.js";

interface ModelFactsProps {
	readonly about: About;
	/** What executes the model in this page. */
	readonly runtime: string | null;
}

/** Size, training data and training of the model. */
export function ModelFacts({ about, runtime }: ModelFactsProps) {
	const { model, parameters, dataset, training, config } = about;
	const { counts, reach } = dataset;
	const size = ["layers", "heads", "dim"]
		.flatMap((name) =>
			config[name] === undefined ? [] : [`${config[name]} ${name === "dim" ? "wide" : name}`],
		)
		.join(", ");
	const facts: readonly (readonly [string, string])[] = [
		["model", model.name],
		["parameters", thousands(parameters)],
		["size", size],
		["codes", thousands(counts.tokens - specialCount)],
		[
			"trained on",
			`${thousands(counts.splits.train?.patients ?? 0)} patients, ${thousands(counts.splits.train?.events ?? 0)} events`,
		],
		["tested on", `${thousands(counts.splits.test?.patients ?? 0)} other patients`],
		...(reach ? [["longest history", durationText(reach.longestDays)] as const] : []),
		["training", `step ${thousands(training.step)}, seed ${training.seed}`],
		...(training.bestLoss === null
			? []
			: [["validation loss", `${training.bestLoss.toFixed(3)} nats`] as const]),
		...(runtime ? [["runs on", runtime] as const] : []),
	];
	return (
		<Panel title="The model" subtitle={model.cite}>
			<dl className="facts">
				{facts.map(([name, value]) => (
					<div key={name}>
						<dt>{name}</dt>
						<dd>{value}</dd>
					</div>
				))}
			</dl>
		</Panel>
	);
}
