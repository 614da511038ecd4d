// Goldens of commands, the service, the library and the page, on two populations and a file extract.
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";
import { prepareData, quickTraining, simulateData, sizes } from "./clone.mjs";
import { writeExtract, writeLabels } from "./extract.mjs";
import { models } from "./models.mjs";
import { setWeights } from "./weights.mjs";

/** Steps with this learning rate leave the weights as they are, so that results do not depend on the processor. */
const still = "--learning-rate 1e-12 --weight-decay 0";
const tiny = sizes({ layers: 2, heads: 2, dim: 16, key: 8, value: 16, ff: 16 });
const extract =
	"extract/records.csv --from csv --patient pid --time when --code code --system vocab";
const tuning = `--epochs 1 --threads 1 ${still}`;

/** Runs everything but the training of all models. */
export async function runCases({ root, goldens, load, commands }, folder, say) {
	writeExtract("extract");
	await populations();
	await training();
	await questions();
	await evaluations();
	await library();
	await service();
	await comparisons();

	async function populations() {
		await commands(`simulate: ${simulateData}`);
		writeLabels("sim/coverage.csv", "planted.csv");
		await commands(`
			simulate parquet: simulate --patients 150 --seed 2 --format parquet --out sim2 --json
			oracle next +: oracle next sim --patient p000060 --at 2012-06-01
			oracle risk +: oracle risk sim --patient p000060 --at 2012-06-01 --code 428 --samples 200
			oracle check +: oracle check sim --patients 60 --samples 20
			prepare: ${prepareData}
			prepare other rules: prepare sim2 --from parquet --out data2 --codes as-is --drugs tokens --dedup month --keep first --max-records 80 --death-token --min-count 20 --splits 60,20,20 --seed 3 --json
			prepare extract: prepare ${extract} --out extracted --kind type --value result --unit units --people extract/people.csv --birth-year year_of_birth --names extract/names.csv --values quantiles:4 --unmapped keep --label ward=extract/labels.csv --skip-bad --json
			prepare bad rows: prepare ${extract} --out bad
			prepare events: prepare extract/events.ndjson --from events --out listed --codes as-is --min-count 5 --splits 50,20,30 --json`);
		for (const data of ["data", "data2", "extracted", "listed"]) {
			await commands(`describe ${data} +: describe ${data}`);
			goldens.set(`content ${data}`, contentOf(data));
		}
		await commands(`
			codes of a dataset +: codes data heart failure
			tasks list: tasks --list
			tasks show: tasks --show heart-failure
			tasks heart failure +: tasks data --task heart-failure --out labels --force
			tasks of labels: tasks extracted --label ward --json`);
	}

	function fileOf(name) {
		const lines = readFileSync(name, "utf8").trimEnd().split("\n");
		const numberIn = (cell) => (Number.isNaN(Number(cell)) ? cell : Number(cell));
		goldens.set(
			`file ${name}`,
			lines.map((line) => line.split(",").map(numberIn)),
		);
	}

	function contentOf(dataset) {
		const manifest = JSON.parse(readFileSync(join(dataset, "manifest.json"), "utf8"));
		return { contentHash: manifest.contentHash ?? null, files: readdirSync(dataset).sort() };
	}

	async function training() {
		const small = `--preset tiny ${tiny} ${quickTraining} ${still}`;
		await commands(
			`pretrain: pretrain data --out run ${small} --max-length 64 --bins 91,365,1096,1826,3652 --json`,
		);
		setWeights("run", 1);
		cpSync("run", "run-b", { recursive: true });
		setWeights("run-b", 5);
		await commands(`
			prepare like: prepare sim2 --from parquet --out other --like run --json
			pretrain without hazards: pretrain listed --out listed-run ${small} --no-hazards --objective next --json`);
		setWeights("listed-run", 2);
		await commands(
			`pretrain other objective: pretrain data2 --out run2 ${small} --objective visits --max-length 64 --bins 365,1826 --before 2012-01-01 --json`,
		);
		setWeights("run2", 3);
		await commands(`
			pretrain window model: pretrain data --out window --model informer --preset tiny ${sizes(models.informer)} ${quickTraining} ${still} --json
			finetune: finetune run --task planted ${tuning} --json
			finetune labels: finetune run --task again --labels planted.csv ${tuning} --json
			export: export run --out model --json
			export external: export run/tasks/planted --out model-planted --weights external --json`);
		for (const folder of ["model", "model-planted"])
			goldens.set(
				`manifest of ${folder}`,
				JSON.parse(readFileSync(join(folder, "export.json"), "utf8")),
			);
	}

	async function questions() {
		const patient = "--patient p000009 --threads 1";
		const input = "--input extract/new.csv --threads 1";
		await commands(`
			codes +: codes run I50.9
			codes all: codes run --top 1000 --json
			forecast +: forecast run ${patient} --at 2005-06-01,+1y,age:75,-2y --top 3
			forecast nobody: forecast run --threads 1
			forecast new patients +: forecast run ${input} --top 3
			forecast by-order: forecast run ${patient} --method by-order --top 3 --json
			forecast auto-regressive: forecast run ${patient} --method auto-regressive --top 3 --json
			forecast sampled: forecast run ${patient} --method sampled --top 3 --json
			forecast window model: forecast window ${patient} --top 3 --json
			forecast in hours: forecast listed-run --patient 102 --threads 1 --at +12h,+2d --top 3 --json
			forecast labels: forecast run/tasks/again --labels planted.csv --split test --force --threads 1 --predictions labelled.csv`);
		fileOf("labelled.csv");
		await commands(`
			forecast bad time: forecast run ${patient} --at yesterday
			risk +: risk run ${patient} --code 401 428 icd10:E11.9
			risk trajectory: risk run ${patient} --code 428 --from 2004-01-01 --step 6m --attribute 2006-01-01 --events --json
			risk what if +: risk run ${patient} --code 428 --at 2008-01-01 --add 250@2005-05-01 --remove 3 --move 5@-6m
			risk why +: risk run ${patient} --code 428 --why
			risk why of edits: risk run ${patient} --code 428 --why --remove 3 --add 250@2005-05-01 --json
			risk group: risk run ${patient} --code 428 --group heart=401,428 --samples 20 --json
			risk new patient: risk run ${input} --patient n1 --code 428 --json
			risk of a label +: risk run/tasks/planted ${patient}
			risk of labels: risk run/tasks/planted ${input} --json
			risk everybody: risk run --data data --split test --code 428 401 --output risks.csv --threads 1 --json`);
		fileOf("risks.csv");
		await commands(`
			risk two runs: risk run run-b ${patient} --code 428 --json
			risk without hazards: risk listed-run --patient 102 --code 3
			risk unknown patient: risk run --patient nobody --code 428
			risk unknown code: risk run ${patient} --code hart
			futures +: futures run ${patient} --samples 20 --years 3
			embed codes: embed run --no-umap --json
			embed patients: embed run --what patients --no-umap --threads 1 --json
			embed new patients: embed run --what patients --no-umap ${input} --json`);
	}

	async function evaluations() {
		const quick = "--draws 50 --threads 1";
		const onset = "--task onset --horizons 1,5 --futures 8";
		await commands(`
			evaluate: evaluate run ${quick} --futures 8 --patients 60 --json
			evaluate next as text: evaluate run --task next --patients 60 ${quick}
			evaluate planted as text: evaluate run --task planted --code 401 --patients 60 ${quick}
			evaluate futures: evaluate run --task futures ${quick} --patients 10 --json
			evaluate onset on a date: evaluate run-b ${onset} --split train --index 2010-01-01 ${quick} --csv onset.csv
			evaluate labels: evaluate run --task again --code 428 --labels planted.csv ${quick} --plp plp --json
			evaluate other hospital: evaluate run --dataset other ${onset} ${quick} --json
			evaluate before: evaluate run2 ${onset} --split train ${quick} --json
			evaluate lists: evaluate listed-run --task next ${quick} --json
			evaluate futures of lists: evaluate listed-run --task futures ${quick}
			evaluate window model: evaluate window --task forecast --lookup 10 ${quick} --patients 10 --futures 4 --json
			evaluate unknown task: evaluate run --task nothing
			features of labels +: features data --task again --labels planted.csv --out again.parquet --force
			features of few patients: features data --out none.parquet
			report: report run --threads 1 --json`);
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
			const set = async (verb, answer) => {
				const value = await answer().catch((error) => ({
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

	async function routes(served, url) {
		if (served === "run") {
			const described = await fetch(`${url}/api/v2/openapi.json`);
			goldens.set("http openapi", await described.json());
		}
		const event = (code, date) => ({ code, date });
		const patient = {
			sex: "female",
			birth: "1950-06-01",
			events: [event("401", "2010-03-01"), event("250", "2011-09-15")],
		};
		const other = { sex: "male", events: [event("250", "2012-05-20")] };
		const horizons = ["1y", "5y"];
		let session = "";
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
	async function page(url, model) {
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
		await commands(
			"compare: compare listed --models gpt2,gru-d --tasks next --out compared --epochs 1 --learning-rate 1e-12 --patients 10 --futures 4 --jobs 1 --json",
		);
	}
}

/** As JSON has it, with typed arrays as lists. */
const plain = (value) =>
	JSON.parse(
		JSON.stringify(value, (_, field) => (ArrayBuffer.isView(field) ? Array.from(field) : field)) ??
			"null",
	);
