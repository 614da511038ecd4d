// Goldens of commands, the service, the library and the page, on two populations and a file extract.
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";
import { prepareData, quickTraining, simulateData, sizes } from "./clone.mjs";
import { writeExtract, writeLabels } from "./extract.mjs";
import { models } from "./models.mjs";
import { setWeights } from "./weights.mjs";

/** @import { Clone } from "./clone.mjs" */

/** Steps with this learning rate leave the weights as they are, so that results do not depend on the processor. */
const still = "--learning-rate 1e-12 --weight-decay 0";
const tiny = sizes({ layers: 2, heads: 2, dim: 16, key: 8, value: 16, ff: 16 });
const tuning = `--epochs 1 --threads 1 ${still}`;

/**
 * Runs everything but the training of all models.
 * @param {Clone} clone
 * @param {string} folder the current folder of this process, empty
 * @param {(line: string) => void} say
 */
export async function runCases({ root, goldens, load, command, both }, folder, say) {
	writeExtract("extract");
	await populations();
	await training();
	await questions();
	await evaluations();
	await library();
	await service();
	await comparisons();

	async function populations() {
		await command("simulate", simulateData);
		writeLabels("sim/coverage.csv", "planted.csv");
		await command(
			"simulate parquet",
			"simulate --patients 150 --seed 2 --format parquet --out sim2 --json",
		);
		await both("oracle next", "oracle next sim --patient p000060 --at 2012-06-01");
		await both(
			"oracle risk",
			"oracle risk sim --patient p000060 --at 2012-06-01 --code 428 --samples 200",
		);
		await both("oracle check", "oracle check sim --patients 60 --samples 20");
		await command("prepare", prepareData);
		await command(
			"prepare other rules",
			"prepare sim2 --from parquet --out data2 --codes as-is --drugs tokens --dedup month --keep first --max-records 80 --death-token --min-count 20 --splits 60,20,20 --seed 3 --json",
		);
		await command(
			"prepare extract",
			"prepare extract/records.csv --from csv --out extracted --patient pid --time when --code code --system vocab --kind type --value result --unit units --people extract/people.csv --birth-year year_of_birth --names extract/names.csv --values quantiles:4 --unmapped keep --label ward=extract/labels.csv --skip-bad --json",
		);
		await command(
			"prepare bad rows",
			"prepare extract/records.csv --from csv --out bad --patient pid --time when --code code --system vocab",
		);
		await command(
			"prepare events",
			"prepare extract/events.ndjson --from events --out listed --codes as-is --min-count 5 --splits 50,20,30 --json",
		);
		for (const data of ["data", "data2", "extracted", "listed"]) {
			await both(`describe ${data}`, `describe ${data}`);
			goldens.set(`content ${data}`, contentOf(data));
		}
		await both("codes of a dataset", "codes data heart failure");
		await command("tasks list", "tasks --list");
		await command("tasks show", "tasks --show heart-failure");
		await both("tasks heart failure", "tasks data --task heart-failure --out labels --force");
		await command("tasks of labels", "tasks extracted --label ward --json");
	}

	function fileOf(/** @type {string} */ name) {
		const lines = readFileSync(name, "utf8").trimEnd().split("\n");
		goldens.set(
			`file ${name}`,
			lines.map((line) =>
				line.split(",").map((cell) => (Number.isNaN(Number(cell)) ? cell : Number(cell))),
			),
		);
	}

	function contentOf(/** @type {string} */ dataset) {
		const manifest = JSON.parse(readFileSync(join(dataset, "manifest.json"), "utf8"));
		return { contentHash: manifest.contentHash ?? null, files: readdirSync(dataset).sort() };
	}

	async function training() {
		const line = `pretrain data --out run --preset tiny ${tiny} ${quickTraining} ${still} --max-length 64 --bins 91,365,1096,1826,3652`;
		await command("pretrain", `${line} --json`);
		setWeights("run", 1);
		cpSync("run", "run-b", { recursive: true });
		setWeights("run-b", 5);
		await command("prepare like", "prepare sim2 --from parquet --out other --like run --json");
		await command(
			"pretrain without hazards",
			`pretrain listed --out listed-run --preset tiny ${tiny} ${quickTraining} ${still} --no-hazards --objective next --json`,
		);
		setWeights("listed-run", 2);
		await command(
			"pretrain other objective",
			`pretrain data2 --out run2 --preset tiny ${tiny} ${quickTraining} ${still} --objective visits --max-length 64 --bins 365,1826 --before 2012-01-01 --json`,
		);
		setWeights("run2", 3);
		await command(
			"pretrain window model",
			`pretrain data --out window --model informer --preset tiny ${sizes(models.informer)} ${quickTraining} ${still} --json`,
		);
		await command("finetune", `finetune run --task planted ${tuning} --json`);
		await command(
			"finetune labels",
			`finetune run --task again --labels planted.csv ${tuning} --json`,
		);
		await command("export", "export run --out model --json");
		await command(
			"export external",
			"export run/tasks/planted --out model-planted --weights external --json",
		);
		for (const folder of ["model", "model-planted"])
			goldens.set(
				`manifest of ${folder}`,
				JSON.parse(readFileSync(join(folder, "export.json"), "utf8")),
			);
	}

	async function questions() {
		const patient = "--patient p000009 --threads 1";
		const input = "--input extract/new.csv --threads 1";
		await both("codes", "codes run I50.9");
		await command("codes all", "codes run --top 1000 --json");
		await both("forecast", `forecast run ${patient} --at 2005-06-01,+1y,age:75,-2y --top 3`);
		await command("forecast nobody", "forecast run --threads 1");
		await both("forecast new patients", `forecast run ${input} --top 3`);
		for (const method of ["by-order", "auto-regressive", "sampled"])
			await command(
				`forecast ${method}`,
				`forecast run ${patient} --method ${method} --top 3 --json`,
			);
		await command("forecast window model", `forecast window ${patient} --top 3 --json`);
		await command(
			"forecast in hours",
			"forecast listed-run --patient 102 --threads 1 --at +12h,+2d --top 3 --json",
		);
		await command(
			"forecast labels",
			"forecast run/tasks/again --labels planted.csv --split test --force --threads 1 --predictions labelled.csv",
		);
		fileOf("labelled.csv");
		await command("forecast bad time", `forecast run ${patient} --at yesterday`);
		await both("risk", `risk run ${patient} --code 401 428 icd10:E11.9`);
		await command(
			"risk trajectory",
			`risk run ${patient} --code 428 --from 2004-01-01 --step 6m --attribute 2006-01-01 --events --json`,
		);
		await both(
			"risk what if",
			`risk run ${patient} --code 428 --at 2008-01-01 --add 250@2005-05-01 --remove 3 --move 5@-6m`,
		);
		await both("risk why", `risk run ${patient} --code 428 --why`);
		await command(
			"risk why of edits",
			`risk run ${patient} --code 428 --why --remove 3 --add 250@2005-05-01 --json`,
		);
		await command(
			"risk group",
			`risk run ${patient} --code 428 --group heart=401,428 --samples 20 --json`,
		);
		await command("risk new patient", `risk run ${input} --patient n1 --code 428 --json`);
		await both("risk of a label", `risk run/tasks/planted ${patient}`);
		await command("risk of labels", `risk run/tasks/planted ${input} --json`);
		await command(
			"risk everybody",
			"risk run --data data --split test --code 428 401 --output risks.csv --threads 1 --json",
		);
		fileOf("risks.csv");
		await command("risk two runs", `risk run run-b ${patient} --code 428 --json`);
		await command("risk without hazards", "risk listed-run --patient 102 --code 3");
		await command("risk unknown patient", "risk run --patient nobody --code 428");
		await command("risk unknown code", `risk run ${patient} --code hart`);
		await both("futures", `futures run ${patient} --samples 20 --years 3`);
		await command("embed codes", "embed run --no-umap --json");
		await command("embed patients", "embed run --what patients --no-umap --threads 1 --json");
		await command("embed new patients", `embed run --what patients --no-umap ${input} --json`);
	}

	async function evaluations() {
		const quick = "--draws 50 --threads 1";
		const onset = "--task onset --horizons 1,5 --futures 8";
		await command("evaluate", `evaluate run ${quick} --futures 8 --patients 60 --json`);
		for (const task of ["next", "planted --code 401"])
			await command(
				`evaluate ${task.split(" ")[0]} as text`,
				`evaluate run --task ${task} --patients 60 ${quick}`,
			);
		await command("evaluate futures", `evaluate run --task futures ${quick} --patients 10 --json`);
		await command(
			"evaluate onset on a date",
			`evaluate run-b ${onset} --split train --index age:60 ${quick} --csv onset.csv`,
		);
		await command(
			"evaluate labels",
			`evaluate run --task again --code 428 --labels planted.csv ${quick} --plp plp --json`,
		);
		await command(
			"evaluate other hospital",
			`evaluate run --dataset other ${onset} ${quick} --json`,
		);
		await command("evaluate before", `evaluate run2 ${onset} --split train ${quick} --json`);
		await command("evaluate lists", `evaluate listed-run --task next ${quick} --json`);
		await command("evaluate futures of lists", `evaluate listed-run --task futures ${quick}`);
		await command(
			"evaluate window model",
			`evaluate window --task forecast --lookup 10 ${quick} --patients 10 --futures 4 --json`,
		);
		await command("evaluate unknown task", "evaluate run --task nothing");
		await command("report", "report run --threads 1 --json");
	}

	async function library() {
		const { loadModel } = await load("index.js");
		const patient = {
			sex: "female",
			birth: "1950-06-01",
			events: [
				{ date: "2010-03-01", code: "I10", system: "ICD10CM" },
				{ date: "2011-09-15", code: "250.00", system: "ICD9CM" },
				{ date: "2011-09-16", code: "XYZ" },
			],
		};
		for (const source of ["run", "model", "model-planted"]) {
			const model = await loadModel(source, { threads: 1 });
			const set = async (
				/** @type {string} */ verb,
				/** @type {() => Promise<unknown>} */ answer,
			) => {
				const value = await answer().catch((/** @type {Error} */ error) => ({
					error: error.message,
				}));
				goldens.set(`library ${source} ${verb}`, plain(value));
			};
			await set("forecast", () => model.forecast(patient, ["+1y", "age:70"], { top: 3 }));
			await set("risk", () => model.risk(patient, ["428", "I50.9"], ["1y", "5y"]));
			await set("risk at", () => model.risk(patient, ["401"], ["1y", 3652], { at: "age:60.5" }));
			await set("futures", () => model.futures(patient, "2y", { samples: 3, seed: 1 }));
			await set("embed", () => model.embed([patient]));
			await set("score", () => model.score(patient));
			await set("read", async () => model.read(patient));
			await set("tokens", async () => ({
				tokens: model.tokens("428"),
				task: model.task,
				codes: model.codes.length,
			}));
			await set("refusal", () => model.risk({ events: [] }, ["428"], ["1y"]));
			await model.close();
		}
		say("library");
	}

	async function service() {
		const { serve, loadModel } = await load("index.js");
		for (const served of ["run", "run/tasks/planted"]) {
			const service = await serve(served, { port: 0, threads: 1, explorer: served === "run" });
			try {
				await routes(served, service.url.replace(/\/$/, ""));
				if (served === "run")
					await page(service.url.replace(/\/$/, ""), await loadModel("model", { threads: 1 }));
			} finally {
				await service.close();
			}
		}
	}

	async function routes(/** @type {string} */ served, /** @type {string} */ url) {
		if (served === "run") {
			const described = await fetch(`${url}/api/v2/openapi.json`);
			goldens.set("http openapi", await described.json());
		}
		const event = (/** @type {string} */ code, /** @type {string} */ date) => ({ code, date });
		const patient = {
			sex: "female",
			birth: "1950-06-01",
			events: [event("401", "2010-03-01"), event("250", "2011-09-15")],
		};
		const other = { sex: "male", events: [event("250", "2012-05-20")] };
		const horizons = ["1y", "5y"];
		let session = "";
		/** @type {[string, string, unknown?][]} */
		const requests = [
			["GET", "/health"],
			["GET", "/model"],
			["GET", "/codes?search=heart%20failure&limit=5"],
			["POST", "/forecast", { patient, at: ["+1y", "age:70"], top: 3 }],
			["POST", "/forecast/batch", { patients: [patient, other], at: ["+1y"], top: 3 }],
			["POST", "/risk", { patient, codes: ["428", "401"], horizons, step: "6m", attribute: "+0d" }],
			["POST", "/risk/batch", { patients: [patient, other], codes: ["428"], horizons }],
			["POST", "/score", { patient }],
			["POST", "/embed", { patient }],
			["POST", "/sessions", { patient }],
			["POST", "/sessions/ID/events", { events: [event("428", "2013-02-01")] }],
			["POST", "/sessions/ID/forecast", { at: ["+6m"], top: 3 }],
			["DELETE", "/sessions/ID"],
			["POST", "/sessions/ID/forecast", { at: ["+6m"] }],
			["POST", "/forecast", { patient: { events: [{ code: "401", date: "yesterday" }] } }],
			["POST", "/risk", { patient, codes: ["nothing"] }],
			["POST", "/risk", { patient, codes: ["428"], horizons: ["soon"], surplus: 1 }],
			["GET", "/nothing"],
		];
		for (const [n, [method, path, body]] of requests.entries()) {
			const response = await fetch(`${url}/api/v2${path.replace("ID", () => session)}`, {
				method,
				headers: { "Content-Type": "application/json" },
				...(body === undefined ? {} : { body: JSON.stringify(body) }),
			});
			const text = await response.text();
			const answer = text === "" ? null : JSON.parse(text);
			if (path.startsWith("/sessions") && answer?.id) {
				session = answer.id;
				answer.id = "ID";
			}
			goldens.set(`http ${served} ${n} ${method} ${path}`, { status: response.status, answer });
		}
		say(`http ${served}`);
	}

	/** The documents of the page, and its numbers, computed by its own code. */
	async function page(/** @type {string} */ url, /** @type {any} */ model) {
		/** @type {Record<string, any>} */
		const documents = {};
		for (const name of ["memory", "usual", "samples", "people", "rates", "evaluation", "about"]) {
			const response = await fetch(`${url}/explorer/${name}.json`);
			documents[name] = response.ok ? await response.json() : { status: response.status };
			goldens.set(`page ${name}.json`, documents[name]);
		}
		const { pageNumbers } = await pageCode();
		const manifest = JSON.parse(readFileSync("model/export.json", "utf8"));
		const { tokens } = JSON.parse(readFileSync("model/vocabulary.json", "utf8"));
		for (const sample of documents.samples.patients.slice(0, 2))
			goldens.set(
				`page ${sample.id}`,
				plain(
					await pageNumbers(
						{
							calls: model.calls,
							config: manifest.config,
							tokens,
							rates: documents.rates.rates,
							people: documents.people.people,
						},
						sample,
					),
				),
			);
		await model.close();
		say("page");
	}

	async function pageCode() {
		await build({
			configFile: false,
			root,
			logLevel: "error",
			ssr: { noExternal: true },
			build: {
				ssr: join(root, "web", "src", "testing", "page-numbers.ts"),
				outDir: join(folder, "page"),
				rolldownOptions: { output: { entryFileNames: "page-numbers.mjs" } },
			},
		});
		return import(pathToFileURL(join(folder, "page", "page-numbers.mjs")).href);
	}

	async function comparisons() {
		const quick = "--epochs 1 --learning-rate 1e-12 --patients 10 --futures 4 --jobs 1 --json";
		await command(
			"compare",
			`compare listed --models gpt2,gru-d --tasks next --out compared ${quick}`,
		);
	}
}

/** As JSON has it, with typed arrays as lists. */
const plain = (/** @type {unknown} */ value) =>
	JSON.parse(
		JSON.stringify(value, (_, field) =>
			ArrayBuffer.isView(field) ? Array.from(/** @type {any} */ (field)) : field,
		) ?? "null",
	);
