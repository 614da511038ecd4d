/**
 * Tests run on few patients; TRAJGPT_SIMULATE=5 runs those of this room on five times as many and
 * prints what they measure.
 */
const asked = process.env.TRAJGPT_SIMULATE;

export const scale = asked === undefined ? 1 : Number(asked);

export function report(what: string, values: Record<string, number | string>): void {
	if (asked === undefined) return;
	const rounded = Object.entries(values).map(
		([name, value]) =>
			`${name} ${typeof value === "number" ? Number(value.toPrecision(4)) : value}`,
	);
	process.stdout.write(`${what}: ${rounded.join(", ")}\n`);
}
