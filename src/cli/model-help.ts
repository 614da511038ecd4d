import { settingsIn } from "../base/config.js";
import type { Model } from "../models/index.js";

/** The help section on a model's settings and presets, without the settings in `hidden`. */
export function modelHelp({ id, config, presets }: Model, hidden: readonly string[]): string {
	const settings = settingsIn(config)
		.filter(({ name }) => !hidden.includes(name))
		.map((setting): [string, string] => [
			setting.name,
			`${setting.description}; ${setting.allowed} (default: ${setting.default})`,
		]);
	const sizes = Object.entries(presets).map(([name, values]): [string, string] => [
		name,
		Object.entries(values)
			.map(([setting, value]) => `${setting}=${value}`)
			.join(" ") || "the defaults",
	]);
	return `\nSettings of ${id}, for --set:\n${list(settings)}\n\nPresets of ${id}:\n${list(sizes)}`;
}

function list(entries: readonly (readonly [name: string, text: string])[]): string {
	const width = Math.max(...entries.map(([name]) => name.length));
	return entries.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`).join("\n");
}
