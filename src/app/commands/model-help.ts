import { settingsIn } from "../../base/config.js";
import { thousands } from "../../base/thousands.js";
import { learningRateOf, type Model } from "../../model/index.js";

/** The help section on a model's settings and presets, without the settings in `hidden`. */
export function modelHelp(model: Model, hidden: readonly string[]): string {
	const { id, config, presets } = model;
	const settings = settingsIn(config)
		.filter(({ name }) => !hidden.includes(name))
		.map((setting): [string, string] => [
			setting.name,
			`${setting.description}; ${setting.allowed} (default: ${setting.default})`,
		]);
	const presetLines = Object.entries(presets).map(([name, values]): [string, string] => [
		name,
		`${settingsText(values)}; learning rate ${learningRateOf(model, name)}`,
	]);
	return `\nSettings of ${id}, for --set:\n${list(settings)}\n\nPresets of ${id}, with their learning rates:\n${list(presetLines)}`;
}

/** Which preset is for how many training patients: `tiny below 8,000, default from 8,000, …`. */
export function suggestionHelp({ suggestedFrom = {} }: Model): string {
	const thresholds = Object.entries(suggestedFrom);
	return thresholds
		.map(([name, from], at) =>
			at === 0
				? `${name} below ${thousands(thresholds[1]?.[1] ?? 0)}`
				: `${name} from ${thousands(from)}`,
		)
		.join(", ");
}

const settingsText = (values: Readonly<Record<string, unknown>>): string =>
	Object.entries(values)
		.map(([setting, value]) => `${setting}=${value}`)
		.join(" ") || "the defaults";

function list(entries: readonly (readonly [name: string, text: string])[]): string {
	const width = Math.max(...entries.map(([name]) => name.length));
	return entries.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`).join("\n");
}
