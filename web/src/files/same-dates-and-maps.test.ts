import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { random } from "../../../src/base/random.js";
import { builtInMap, readPheCodeMap } from "../../../src/data/codes/index.js";
import { readingRules } from "../../../src/data/cohort/reading/rules.js";
import { idsIn, prepared } from "../../../src/data/cohort/testing/prepared.js";
import { openCsv } from "../../../src/data/records/index.js";
import { temporaryFolder } from "../../../src/data/records/testing/temporary-folder.js";
import { historyOf } from "../data/patient.js";
import { patientList } from "./patient-list.js";
import { readFiles } from "./reader.js";

const ids = idsIn("train", 3);

/** A table through `prepare` with a format of dates and a map, and in the page. */
async function readBoth(text: string, format: string | undefined, mapText?: string) {
	const folder = await temporaryFolder();
	const [file, mapFile] = [join(folder, "records.csv"), join(folder, "map.csv")];
	await writeFile(file, text);
	if (mapText !== undefined) await writeFile(mapFile, mapText);
	const source = await openCsv(file, { people: file, dateFormat: format });
	const map =
		mapText === undefined ? { map: builtInMap() } : { map: await readPheCodeMap(mapFile) };
	const { dataset, histories } = await prepared(source, map);
	const reply = await readFiles({
		files: [
			new File([text], "records.csv"),
			...(mapText === undefined ? [] : [new File([mapText], "map.csv")]),
		],
		...{ before: {}, tokens: dataset.vocabulary.tokens, rules: readingRules(dataset.manifest) },
	});
	if (reply.state !== "read") throw new Error(JSON.stringify(reply));
	const list = patientList("records.csv", reply.content);
	const page = Array.from({ length: list.length }, (_, at) => list.at(at));
	return { histories, page };
}

function expectSame({ histories, page }: Awaited<ReturnType<typeof readBoth>>, patients: number) {
	expect(page).toHaveLength(patients);
	for (const own of page) {
		const history = histories.get(own.name);
		const { tokens, times } = historyOf(own, own.events);
		expect([own.name, tokens]).toEqual([own.name, [...(history?.tokens ?? [])]]);
		expect([own.name, times]).toEqual([own.name, [...(history?.times ?? [])]]);
	}
}

test.each([
	["%d.%m.%Y", (y: string, m: string, d: string) => `${d}.${m}.${y}`],
	["%d/%m/%Y", (y: string, m: string, d: string) => `${d}/${m}/${y}`],
	["%m/%d/%Y", (y: string, m: string, d: string) => `${m}/${d}/${y}`],
	["%m-%d-%Y %H:%M", (y: string, m: string, d: string) => `${m}-${d}-${y} 14:05`],
	["%d-%b-%Y", (y: string, m: string, d: string) => `${d}-${months[Number(m) - 1]}-${y}`],
])("dates as %s are read as `prepare --date-format` reads them", async (format, write) => {
	const draw = random(7);
	const written = (day: number) =>
		write(...(new Date(day * 86_400_000).toISOString().slice(0, 10).split("-") as Date3));
	const rows = ids.flatMap((id, i) =>
		Array.from(
			{ length: 12 },
			() =>
				`${id},${written(12_000 + draw.integer(6000))},${["I10", "E11.9", "I50.9"][draw.integer(3)]},${written(-5000 + i)}`,
		),
	);
	const table = ["patient,date,icd10,birth", ...rows].join("\n");
	expectSame(await readBoth(table, format), ids.length);
});

type Date3 = [string, string, string];
const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

test("SNOMED codes are mapped in the page as `prepare --phecode-map` maps them", async () => {
	const [a, b] = ids;
	const table = `patient,date,code,system,sex
${a},2012-05-03,44054006,SNOMED,F
${a},2012-06-03,59621000,http://snomed.info/sct,F
${a},2012-07-03,I50.9,ICD10CM,F
${b},2013-01-01,1234567,SNOMED,
${b},2013-01-02,38341003,SNOMED,
`;
	const map = "SNOMED,PheCode\n44054006,250.2\n59621000,401.1\n38341003,401\n";
	const { histories, page } = await readBoth(table, undefined, map);
	expectSame({ histories, page }, 2);
	expect(page.map(({ events }) => events.length)).toEqual([3, 1]);
});
