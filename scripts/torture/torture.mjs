// Runs the campaigns, counts outcomes, and records failures with the seed and step that reproduce them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { random as randomOf } from "../../dist/base/random.js";
import { concurrent, fullDisk, kills } from "./breakdowns.mjs";
import { damagedFiles } from "./damage.mjs";
import { httpCampaign } from "./http.mjs";
import { makeWorld } from "./world.mjs";

/** @typedef {import("./world.mjs").World} World */
/** @typedef {import("../../dist/base/random.js").Random} Random */

/**
 * @typedef {object} Outcome
 * @property {Record<string, number>} counts
 * @property {string | undefined} [broke]
 * @property {string} [skip] why the campaign cannot run here
 */

/**
 * @typedef {object} Campaign
 * @property {string} name
 * @property {number} share of the time
 * @property {number} lanes steps at once
 * @property {(world: World, random: Random) => Promise<void>} [begin]
 * @property {(world: World, random: Random, number: number) => Promise<Outcome>} step a function of the random stream and the number alone
 * @property {(world: World) => Promise<{ figures: Record<string, any>, broke?: string | undefined }>} [end]
 */

/**
 * @typedef {object} Report
 * @property {number} steps
 * @property {number} seconds
 * @property {Record<string, number>} counts
 * @property {{ step: number | "end", what: string, repeat: string }[]} broke
 * @property {string} [skipped]
 * @property {Record<string, any>} [figures]
 */

export const campaignNames = ["kills", "damage", "http", "full-disk", "together"];

/**
 * @param {object} options
 * @param {number} options.seed
 * @param {number} [options.minutes] shared among the campaigns
 * @param {Record<string, number>} [options.steps] by campaign, instead of minutes
 * @param {readonly string[]} [options.only] campaigns
 * @param {number} [options.step] this one alone
 * @param {string} [options.run] the run that the service serves, instead of a tiny one
 * @param {readonly string[]} [options.loads] of the service; all if left out
 * @param {boolean} [options.small] smallest sizes, latencies not judged
 * @param {(text: string) => void} [options.say]
 * @returns {Promise<Record<string, Report>>}
 */
export async function torture(options) {
	const { seed, minutes = 10, steps, only, step, run, loads } = options;
	const { small = false, say = () => {} } = options;
	const folder = mkdtempSync(join(tmpdir(), "trajgpt-torture-"));
	const all = [kills, damagedFiles, httpCampaign(loads), fullDisk, concurrent];
	const campaigns = all.filter(({ name }) => (only ? only.includes(name) : true));
	const shares = campaigns.reduce((sum, { share }) => sum + share, 0);
	/** @type {Record<string, Report>} */
	const reports = {};
	try {
		say("making records, a dataset and a run\n");
		const made = await makeWorld(join(folder, "world"), small);
		const world = { ...made, served: run ?? made.run };
		for (const campaign of campaigns) {
			const most = step !== undefined ? 1 : (steps?.[campaign.name] ?? Number.POSITIVE_INFINITY);
			const until = steps
				? Number.POSITIVE_INFINITY
				: Date.now() + (minutes * 60_000 * campaign.share) / shares;
			const report = await runCampaign(campaign, world, {
				seed,
				first: step ?? 0,
				most,
				until,
				say,
				service: [
					...(run === undefined ? [] : ["--run", run]),
					...(loads ? ["--loads", `"${loads.join(",")}"`] : []),
				],
			});
			reports[campaign.name] = report;
		}
		return reports;
	} finally {
		rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
	}
}

/**
 * @param {Campaign} campaign @param {World} world
 * @param {{ seed: number, first: number, most: number, until: number, say: (text: string) => void, service: readonly string[] }} options
 * @returns {Promise<Report>}
 */
async function runCampaign(campaign, world, { seed, first, most, until, say, service }) {
	const started = performance.now();
	/** @type {Report} */
	const report = { steps: 0, seconds: 0, counts: {}, broke: [] };
	const stream = randomOf(seed).fork(campaign.name);
	const small = world.small ? ["--small"] : [];
	const repeat = [
		"npm run torture -- --only",
		campaign.name,
		"--seed",
		seed,
		...small,
		...service,
	].join(" ");
	const note = (/** @type {number | "end"} */ step, /** @type {string} */ what) => {
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
				note(number, `${/** @type {Error} */ (error).message}`);
			}
		}
	};
	try {
		await campaign.begin?.(world, stream.fork("begin"));
		await Promise.all(Array.from({ length: campaign.lanes }, lane));
	} catch (error) {
		note("end", `it could not begin: ${/** @type {Error} */ (error).message}`);
	}
	const ended = await campaign.end?.(world);
	if (ended?.broke) note("end", ended.broke);
	if (ended) report.figures = ended.figures;
	report.seconds = Math.round((performance.now() - started) / 1000);
	return report;
}
