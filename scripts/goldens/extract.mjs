// A small extract of records as hospitals hand them out: mixed classifications, values, drugs, one row that is not one.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Numbers in [0, 1) from a seed. */
export function uniform(seed) {
	let state = seed >>> 0;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 2 ** 32;
	};
}

const diagnoses = [
	["ICD10CM", "I10"],
	["ICD9CM", "401.9"],
	["ICD10CM", "E11.9"],
	["ICD9CM", "250.00"],
	["ICD10CM", "I50.9"],
	["ICD9CM", "428.0"],
	["ICD10CM", "J44.9"],
	["ICD9CM", "272.4"],
	["ICD10CM", "N18.3"],
	["ICD9CM", "585.3"],
	["ICD10CM", "F32.9"],
	["ICD10CM", "Z99.99"],
];
const date = (day) => new Date(day * 86_400_000).toISOString().slice(0, 10);

/** Writes records.csv, people.csv, labels.csv and names.csv, and events.ndjson: visits to a site, in hours. */
export function writeExtract(folder) {
	mkdirSync(folder, { recursive: true });
	const next = uniform(7);
	const below = (n) => Math.floor(next() * n);
	const records = ["pid,when,code,vocab,type,result,units"];
	const people = ["pid,gender,year_of_birth,death"];
	const labels = ["patient,time,value"];
	const lists = [];
	for (let person = 1; person <= 120; person++) {
		const id = `h-${String(person).padStart(4, "0")}`;
		const first = 12_000 + below(4000);
		let day = first;
		const preferred = below(4);
		for (let record = 4 + below(16); record > 0; record--) {
			day += Math.floor(next() ** 2 * 400);
			const [system, code] = diagnoses[below(3) === 0 ? below(diagnoses.length) : preferred] ?? [];
			records.push(`${id},${date(day)},${code},${system},diagnosis,,`);
			if (below(4) === 0)
				records.push(`${id},${date(day)},4548-4,LOINC,laboratory,${(5 + 6 * next()).toFixed(1)},%`);
			if (below(5) === 0) records.push(`${id},${date(day)},A10BA02,ATC,drug,,`);
		}
		const death = below(8) === 0 ? date(day + below(300)) : "";
		people.push(`${id},${below(2) ? "F" : "M"},${1930 + below(50)},${death}`);
		labels.push(`${id},${date(Math.floor((first + day) / 2))},${preferred < 2 ? 1 : 0}`);
		let hour = 0;
		const times = Array.from({ length: 20 + below(40) }, () => (hour += 1 + next() ** 3 * 200));
		lists.push({
			types: times.map((_, at) => (person + at * (1 + below(3))) % 11),
			times: times.map((time) => Number(time.toFixed(2))),
		});
	}
	records.push("h-0007,31/31/2010,I10,ICD10CM,diagnosis,,");
	const write = (name, lines) => writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
	write("records.csv", records);
	write("people.csv", people);
	write("labels.csv", labels);
	write("names.csv", ["code,name,category,kind", "4548-4,Hemoglobin A1c,laboratory,laboratory"]);
	write(
		"events.ndjson",
		lists.map((list) => JSON.stringify(list)),
	);
	write("new.csv", [
		"patient,date,icd10,sex,birth",
		"n1,2010-03-01,I10,F,1950-06-01",
		"n1,2011-09-15,E11.9,F,1950-06-01",
		"n2,2012-01-20,J44.9,M,1940-02-01",
		"n2,2012-03-02,I50.9,M,1940-02-01",
	]);
}

/** A label for everybody in a table of coverage, in the middle of it. */
export function writeLabels(coverage, file) {
	const next = uniform(11);
	const rows = readFileSync(coverage, "utf8").trimEnd().split("\n").slice(1);
	const labels = rows.map((row) => {
		const [patient, from, to] = row.split(",");
		const middle = (Date.parse(from ?? "") + Date.parse(to ?? "")) / 2 / 86_400_000;
		return `${patient},${date(Math.floor(middle))},${next() < 0.3 ? 1 : 0}`;
	});
	writeFileSync(file, ["patient,time,value", ...labels, ""].join("\n"));
}
