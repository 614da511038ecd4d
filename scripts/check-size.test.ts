import { expect, test } from "vitest";
import { cyclesIn, habits, roomIn, sizesOf } from "./check-size.mjs";

test("counts literals that are spread where they stand, and vague names outside comments", () => {
	const text = `f({ ...{ a, b }, ...rest, ...(x && { own }) }, ...([1, 2] as const)); // own`;
	expect(habits("a.ts", text)).toEqual({ packings: 2, vague: 1 });
});

test("finds files that import each other, types too", () => {
	const files = {
		"src/a.ts": 'import type { B } from "./b.js";',
		"src/b.ts": 'import { c } from "./c.js";',
		"src/c.ts": 'import { a } from "./a.js";',
		"src/d.ts": 'import { a } from "./a.js";',
	};
	expect(cyclesIn(new Map(Object.entries(files)))).toEqual([["src/a.ts", "src/b.ts", "src/c.ts"]]);
});

test("counts the lines of the innermost room, and reports what is larger than allowed", () => {
	const rooms = { "src/model": 3, "src/model/nn": 1 };
	expect(roomIn(rooms, "src/model/nn/a.ts")).toBe("src/model/nn");
	const files = {
		"src/model/a.ts": "1\n2\n3\n",
		"src/model/a.test.ts": "1\n",
		"src/model/nn/a.ts": "1\n2\n",
		"src/model/README.md": "1\n2\n",
		"src/utils/a.ts": "1\n",
	};
	const limits = { lines: 6, files: 3, "lines of a file": 3, "lines of a README": 1 };
	const { faults } = sizesOf(new Map(Object.entries(files)), rooms, limits);
	expect(faults).toEqual([
		"src/model/nn: 2, at most 1",
		"lines of tests: 1, at most 0",
		"lines of a README: 2, at most 1",
		"src/utils/a.ts is in no room of the table",
	]);
});
