import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { loadNames } from "./http.mjs";
import { campaignNames, torture } from "./torture.mjs";

const usage = `npm run torture -- [--minutes 10] [--seed 1] [--only ${campaignNames}]
  [--loads ${loadNames}]
  [--run runs/demo/run] [--step 17] [--small] [--out summary.json]
`;

/** @returns {never} */
const refuse = (/** @type {string} */ message) => {
	process.stderr.write(`error: ${message}\n`);
	process.exit(2);
};
const options = /** @type {const} */ ({
	minutes: { type: "string", default: "10" },
	seed: { type: "string", default: "1" },
	only: { type: "string" },
	loads: { type: "string" },
	run: { type: "string" },
	step: { type: "string" },
	small: { type: "boolean", default: false },
	out: { type: "string" },
	help: { type: "boolean", default: false },
});
const read = () => {
	try {
		return parseArgs({ options }).values;
	} catch (error) {
		return refuse(`${/** @type {Error} */ (error).message}\n${usage}`);
	}
};
const values = read();
if (values.help) {
	process.stdout.write(usage);
	process.exit(0);
}
const number = (/** @type {string} */ text, /** @type {string} */ option) => {
	const value = Number(text);
	if (!(value >= 0)) refuse(`${option} is ${text}; expected a number from 0 on`);
	return value;
};
// Ends the started processes, which have their own process groups.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));
const listed = (
	/** @type {string | undefined} */ text,
	/** @type {string} */ what,
	/** @type {readonly string[]} */ known,
) => {
	const names = text?.split(",");
	const unknown = names?.find((name) => !known.includes(name));
	if (unknown !== undefined) refuse(`no ${what} ${unknown}; expected ${known.join(", ")}`);
	return names;
};
const only = listed(values.only, "campaign", campaignNames);
const loads = listed(values.loads, "load", loadNames);
const step = values.step === undefined ? undefined : number(values.step, "--step");
const reports = await torture({
	minutes: number(values.minutes, "--minutes"),
	seed: number(values.seed, "--seed"),
	small: values.small,
	say: (text) => process.stderr.write(text),
	...(only && { only }),
	...(loads && { loads }),
	...(values.run !== undefined && { run: resolve(values.run) }),
	...(step !== undefined && { step }),
});

let broken = 0;
for (const [name, { steps, seconds, counts, broke, skipped, figures }] of Object.entries(reports)) {
	broken += broke.length;
	console.log(`\n${name}: ${steps} steps in ${seconds} s, ${broke.length} broke`);
	if (skipped) console.log(`  skipped: ${skipped}`);
	for (const [what, count] of Object.entries(counts)) console.log(`  ${count} ${what}`);
	for (const [client, line] of Object.entries(figures?.latencies ?? {}))
		console.log(`  well-behaved client, ${client}: ${JSON.stringify(line)}`);
	if (figures?.memory) console.log(`  memory of the service: ${JSON.stringify(figures.memory)}`);
	for (const { what, repeat } of broke) console.log(`  BROKE ${what}\n        ${repeat}`);
}
if (values.out)
	writeFileSync(
		values.out,
		`${JSON.stringify({ seed: Number(values.seed), broken, campaigns: reports }, null, "\t")}\n`,
	);
process.exitCode = broken > 0 ? 1 : 0;
