// Runs the campaigns, counts outcomes, and records failures with the seed and step that reproduce them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { random as randomOf } from "../../dist/base/random.js";
import { concurrent, fullDisk, kills } from "./breakdowns.mjs";
import { damagedFiles } from "./damage.mjs";
import { httpCampaign, loadNames } from "./http.mjs";
import { faultOf, run } from "./process.mjs";

const campaignNames = ["kills", "damage", "http", "full-disk", "together"];

/**
 * Runs campaigns for some minutes, which they share, or for some steps each. A step depends on its random stream and
 * its number alone.
 */
export async function torture({
	minutes = 10,
	steps,
	only = campaignNames,
	step,
	loads,
	...options
}) {
	const { seed, run: served, small = false, say = () => {} } = options;
	const folder = mkdtempSync(join(tmpdir(), "trajgpt-torture-"));
	const campaigns = [kills, damagedFiles, httpCampaign(loads), fullDisk, concurrent].filter(
		({ name }) => only.includes(name),
	);
	const shares = campaigns.reduce((sum, { share }) => sum + share, 0);
	const sameOptions = [
		`--seed ${seed}`,
		...(small ? ["--small"] : []),
		...(served === undefined ? [] : [`--run ${served}`]),
		...(loads ? [`--loads "${loads.join(",")}"`] : []),
	].join(" ");
	const reports = {};
	try {
		say("making records, a dataset and a run\n");
		const world = await makeWorld(join(folder, "world"), small, served);
		for (const campaign of campaigns)
			reports[campaign.name] = await runCampaign(campaign, world, {
				stream: randomOf(seed).fork(campaign.name),
				first: step ?? 0,
				most: step !== undefined ? 1 : (steps?.[campaign.name] ?? Number.POSITIVE_INFINITY),
				until: steps
					? Number.POSITIVE_INFINITY
					: Date.now() + (minutes * 60_000 * campaign.share) / shares,
				say,
				repeat: `npm run torture -- --only ${campaign.name} ${sameOptions}`,
			});
		return reports;
	} finally {
		rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
	}
}

async function runCampaign(campaign, world, { stream, first, most, until, say, repeat }) {
	const started = performance.now();
	const report = { steps: 0, seconds: 0, counts: {}, broke: [] };
	const note = (step, what) => {
		report.broke.push({ step, what, repeat: step === "end" ? repeat : `${repeat} --step ${step}` });
		say(`${campaign.name}: BROKE at step ${step}: ${what}\n`);
	};
	say(`${campaign.name} begins\n`);
	let next = first;
	const lane = async () => {
		while (next < first + most && Date.now() < until && !report.skipped) {
			const number = next++;
			try {
				const outcome = await campaign.step(world, stream.fork(number), number);
				if (outcome.skip) report.skipped = outcome.skip;
				else report.steps++;
				for (const [name, count] of Object.entries(outcome.counts))
					report.counts[name] = (report.counts[name] ?? 0) + count;
				if (outcome.broke) note(number, outcome.broke);
			} catch (error) {
				note(number, error.message);
			}
		}
	};
	try {
		await campaign.begin?.(world, stream.fork("begin"));
		await Promise.all(Array.from({ length: campaign.lanes }, lane));
	} catch (error) {
		note("end", `it could not begin: ${error.message}`);
	}
	const ended = await campaign.end?.(world);
	if (ended?.broke) note("end", ended.broke);
	if (ended) report.figures = ended.figures;
	report.seconds = Math.round((performance.now() - started) / 1000);
	return report;
}

/** Small records, a dataset and a trained run that the campaigns copy from; the service serves another run if one is given. */
async function makeWorld(folder, small, served) {
	const at = (name) => join(folder, name);
	const patients = small ? 24 : 300;
	// Seven steps. Hazards would take half of the time.
	const amount = small
		? "--epochs 1 --max-length 16 --batch-slots 384 --no-hazards"
		: "--epochs 2 --max-length 64";
	const training = `--preset tiny --threads 1 ${amount} --set layers=1 --set dim=16 --set key=8 --set value=16 --set ff=16`;
	const must = async (line, ...folders) => {
		const finished = await run([...line.split(" "), ...folders]);
		if (finished.code !== 0)
			throw new Error(
				`no ${line.split(" ", 1)} to begin with: ${faultOf(finished) ?? finished.stderr}`,
			);
	};
	const world = {
		folder,
		patients,
		small,
		training,
		/** Whether latencies are judged, not only recorded. */
		timing: !small,
		attackSeconds: small ? 0.5 : 15,
		population: at("population"),
		populationParquet: at("population-parquet"),
		fhir: at("fhir"),
		dataset: at("dataset"),
		run: at("run"),
		served: served ?? at("run"),
		export: at("export"),
		/** What is made once, by its name. */
		made: new Map(),
	};
	mkdirSync(world.fhir, { recursive: true });
	writeFileSync(join(world.fhir, "bundle.json"), JSON.stringify(fhirBundle(20)));
	await Promise.all([
		must(`simulate --patients ${patients} --out`, world.population),
		must(`simulate --patients ${patients} --format parquet --out`, world.populationParquet),
	]);
	await must("prepare --from csv --out", world.dataset, world.population);
	await must(`pretrain ${training} --out`, world.run, world.dataset);
	await must("export --out", world.export, world.run);
	return world;
}

/** Invented patients with a diagnosis of hypertension and one of diabetes each. */
function fhirBundle(patients) {
	const entry = Array.from({ length: patients }, (_, i) => {
		const subject = { reference: `Patient/f${i}` };
		const condition = (code, recordedDate) => ({
			resource: {
				resourceType: "Condition",
				subject,
				recordedDate,
				code: { coding: [{ system: "http://hl7.org/fhir/sid/icd-10-cm", code }] },
			},
		});
		return [
			{
				resource: {
					resourceType: "Patient",
					id: `f${i}`,
					gender: "female",
					birthDate: "1950-06-01",
				},
			},
			condition("I10", "2010-03-01"),
			condition("E11.9", "2012-09-15"),
		];
	});
	return { resourceType: "Bundle", type: "collection", entry: entry.flat() };
}

const usage = `npm run torture -- [--minutes 10] [--seed 1] [--only ${campaignNames}]
  [--loads ${loadNames}]
  [--run runs/demo/run] [--step 17] [--small] [--out summary.json]
`;

function refuse(message) {
	process.stderr.write(`error: ${message}\n`);
	process.exit(2);
}

function readOptions() {
	const text = { type: "string" };
	const options = {
		minutes: { ...text, default: "10" },
		seed: { ...text, default: "1" },
		only: text,
		loads: text,
		run: text,
		step: text,
		small: { type: "boolean", default: false },
		out: text,
		help: { type: "boolean", default: false },
	};
	try {
		return parseArgs({ options }).values;
	} catch (error) {
		return refuse(`${error.message}\n${usage}`);
	}
}

function numberIn(text, option) {
	const value = text === undefined ? undefined : Number(text);
	if (value !== undefined && !(value >= 0))
		refuse(`${option} is ${text}; expected a number from 0 on`);
	return value;
}

function namesIn(text, what, known) {
	const names = text?.split(",");
	const unknown = names?.find((name) => !known.includes(name));
	if (unknown !== undefined) refuse(`no ${what} ${unknown}; expected ${known.join(", ")}`);
	return names;
}

async function main() {
	const { help, out, small, ...values } = readOptions();
	if (help) return void process.stdout.write(usage);
	// Ends the started processes, which have their own process groups.
	for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));
	const seed = numberIn(values.seed, "--seed");
	const reports = await torture({
		seed,
		minutes: numberIn(values.minutes, "--minutes"),
		step: numberIn(values.step, "--step"),
		only: namesIn(values.only, "campaign", campaignNames),
		loads: namesIn(values.loads, "load", loadNames),
		run: values.run && resolve(values.run),
		small,
		say: (text) => process.stderr.write(text),
	});
	let broken = 0;
	for (const [name, report] of Object.entries(reports)) {
		const { steps, seconds, counts, broke, skipped, figures } = report;
		broken += broke.length;
		console.log(`\n${name}: ${steps} steps in ${seconds} s, ${broke.length} broke`);
		if (skipped) console.log(`  skipped: ${skipped}`);
		for (const [what, count] of Object.entries(counts)) console.log(`  ${count} ${what}`);
		for (const [client, line] of Object.entries(figures?.latencies ?? {}))
			console.log(`  well-behaved client, ${client}: ${JSON.stringify(line)}`);
		if (figures?.memory) console.log(`  memory of the service: ${JSON.stringify(figures.memory)}`);
		for (const { what, repeat } of broke) console.log(`  BROKE ${what}\n        ${repeat}`);
	}
	const summary = { seed, broken, campaigns: reports };
	if (out) writeFileSync(out, `${JSON.stringify(summary, null, "\t")}\n`);
	process.exitCode = broken > 0 ? 1 : 0;
}

if (process.argv[1] === import.meta.filename) await main();
