import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { definitionBeside, taskMarker } from "./definition-beside.js";

test("a definition that is not JSON is passed over, one that holds a key twice is refused", async () => {
	const folder = await temporaryFolder();
	const file = join(folder, taskMarker);
	await writeFile(file, "{");
	expect((await definitionBeside(folder, "stroke")).what).toContain("task stroke");
	await writeFile(file, '{ "definition": {}, "definition": {} }');
	await expect(definitionBeside(folder, "stroke")).rejects.toThrow(
		`${file} holds the key "definition" twice in one object`,
	);
});
