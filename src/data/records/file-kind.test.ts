import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { fileKind } from "./bytes.js";
import { temporaryFolder } from "./testing/temporary-folder.js";

test("tells what a file holds by its beginning", async () => {
	const folder = await temporaryFolder();
	const kindOf = async (content: string | Uint8Array) => {
		const file = join(folder, "file");
		await writeFile(file, content);
		return fileKind(file);
	};
	const bundle = '{\n  "resourceType": "Bundle", "entry": []}';
	expect(await kindOf("PAR1…")).toBe("parquet");
	expect(await kindOf(bundle)).toBe("fhir");
	expect(await kindOf(gzipSync(bundle))).toBe("fhir");
	expect(await kindOf(`\uFEFF[${bundle}]`)).toBe("fhir");
	expect(await kindOf('{"id":"a","types":[4,9],"times":[0,2.5]}\n')).toBe("events");
	expect(await kindOf('{"a":1}')).toBe("json");
	expect(await kindOf("[1,2,3]")).toBe("json");
	expect(await kindOf("patient,date,icd9\n")).toBe("text table");
	expect(await kindOf("[patient],[date],[icd9]\n")).toBe("text table");
	expect(await kindOf("")).toBeUndefined();
	expect(await kindOf("hello\n")).toBeUndefined();
	expect(await kindOf(new Uint8Array([0x1f, 0x8b, 1, 2]))).toBeUndefined();
	expect(await fileKind(join(folder, "none"))).toBeUndefined();
	await mkdir(join(folder, "inside"));
	expect(await fileKind(join(folder, "inside"))).toBeUndefined();
});
