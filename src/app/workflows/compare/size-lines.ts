import { InputError } from "../../../base/errors.js";
import { thousands } from "../../../base/thousands.js";
import type { Entry } from "../../../evaluate/index.js";
import { type Model, modelById } from "../../../model/index.js";
import { type LineOptions, lineOf } from "./lines.js";

/** Which sizes of a model learn from how many patients. */
export interface SizeOptions extends Omit<LineOptions, "preset"> {
	/** The id of the model. */
	readonly model: string;
	/** Default: those of tiny, default and large that the model has. */
	readonly presets?: readonly string[] | undefined;
	/** Numbers of training patients. Default: from 2,000 on, four times as many each, up to all. */
	readonly trainPatients?: readonly number[] | undefined;
	/** Epochs over all training patients. */
	readonly epochs: number;
}

/** A line of a scaling curve, with its place on it. */
export interface SizeLine {
	readonly entry: Entry;
	readonly preset: string;
	readonly trainPatients: number;
}

const fewest = 2000;

/** From a few patients to all, four times as many each. */
export function usualNumbers(all: number): number[] {
	const numbers: number[] = [];
	for (let number = fewest; number < all / 2; number *= 4) numbers.push(number);
	return [...numbers, all];
}

/** A quarter of the patients is seen twice as often: half as many steps. */
export const epochsFor = (patients: number, all: number, epochs: number): number =>
	Math.round(epochs * Math.sqrt(all / patients));

/** Epochs without a better validation loss before a run stops. */
const patience = 5;

const usualPresets = ({ presets }: Model) =>
	["tiny", "default", "large"].filter((preset) => preset in presets);

/** One line per preset and number of patients, of which there are so many in all. */
export function sizeLines(options: SizeOptions, all: number): SizeLine[] {
	const model = modelById(options.model);
	const { presets = usualPresets(model), trainPatients = usualNumbers(all), epochs } = options;
	if (presets.length === 0)
		throw new InputError("`presets` is empty; expected at least one, such as tiny", {
			field: "presets",
		});
	const most = Math.max(...trainPatients);
	if (most > all)
		throw new InputError(
			`\`trainPatients\` ${most}: the dataset has ${all} training patients; give at most as many`,
			{ field: "trainPatients", value: most },
		);
	return presets.flatMap((preset) =>
		trainPatients.map((number) => ({
			...{ preset, trainPatients: number },
			entry: lineOf(
				model,
				{ ...options, preset },
				{
					id: `${preset}-${number}`,
					label: `${preset}, ${thousands(number)} patients`,
					group: preset,
					options: { trainPatients: number, epochs: epochsFor(number, all, epochs), patience },
				},
			),
		})),
	);
}
