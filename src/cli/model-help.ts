import { settingsIn } from "../base/config.js";
import type { Model } from "../models/index.js";

/** A section of a command's help: what can be set of a model, and its presets; `but` names what the user cannot set. */
export function modelHelp({ id, config, presets }: Model, but: readonly string[]): string {
	const settings = settingsIn(config)
		.filter(({ name }) => !but.includes(name))
		.map((of): [string, string] => [
			of.name,
			`${of.description}; ${of.allowed} (default: ${of.default})`,
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
