import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { crc32c, maskedCrc32c, openTensorboard } from "./tensorboard.js";

test.each([
	["nothing", new Uint8Array(), 0],
	["123456789", new TextEncoder().encode("123456789"), 0xe3069283],
	// RFC 3720, B.4
	["32 zeros", new Uint8Array(32), 0x8a9136aa],
	["32 ones", new Uint8Array(32).fill(0xff), 0x62a8ab43],
	["0 to 31", Uint8Array.from({ length: 32 }, (_, i) => i), 0x46dd794e],
	["31 to 0", Uint8Array.from({ length: 32 }, (_, i) => 31 - i), 0x113fdb5c],
])("crc32c of %s", (_, bytes, crc) => {
	expect(crc32c(bytes)).toBe(crc);
});

test("the mask is the rotation by 15 plus a constant, modulo 2^32", () => {
	const crc = 0xe3069283n;
	const rotated = ((crc >> 15n) | (crc << 17n)) & 0xffffffffn;
	const masked = Number((rotated + 0xa282ead8n) & 0xffffffffn);
	expect(maskedCrc32c(new TextEncoder().encode("123456789"))).toBe(masked);
});

let folder = "";
beforeEach(async () => {
	folder = await temporaryFolder();
});

const clock = () => 1_500_000_000_250;

/** Undoes the mask, as a reader does, rather than repeating the writer's arithmetic. */
function unmask(masked: number): number {
	const rotated = (masked - 0xa282ead8) >>> 0;
	return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}

function records(file: string): Buffer[] {
	const bytes = readFileSync(file);
	const found: Buffer[] = [];
	for (let at = 0; at < bytes.length; ) {
		const length = Number(bytes.readBigUInt64LE(at));
		expect(unmask(bytes.readUInt32LE(at + 8))).toBe(crc32c(bytes.subarray(at, at + 8)));
		const data = bytes.subarray(at + 12, at + 12 + length);
		expect(unmask(bytes.readUInt32LE(at + 12 + length))).toBe(crc32c(data));
		found.push(data);
		at += 16 + length;
	}
	return found;
}

type Field = [number: number, value: bigint | number | Buffer];

/** Any protobuf message, field by field, without its schema. */
function fields(bytes: Buffer): Field[] {
	const reader = new BinaryReader(bytes);
	const read: Partial<Record<WireType, () => Field[1]>> = {
		[WireType.Varint]: () => BigInt(reader.int64()),
		[WireType.Bit64]: () => reader.double(),
		[WireType.LengthDelimited]: () => Buffer.from(reader.bytes()),
		[WireType.Bit32]: () => reader.float(),
	};
	const found: Field[] = [];
	while (reader.pos < reader.len) {
		const [field, type] = reader.tag();
		found.push([field, read[type]?.() ?? Number.NaN]);
	}
	return found;
}

const WALL: Field = [1, 1_500_000_000.25];

test("the first record is this, byte for byte", () => {
	const writer = openTensorboard(folder, { clock });
	writer.close();
	const [first] = records(writer.file);
	const wall = Buffer.alloc(8);
	wall.writeDoubleLE(1_500_000_000.25);
	const version = Buffer.from("brain.Event:2");
	expect(first).toEqual(
		Buffer.concat([Buffer.of(0x09), wall, Buffer.of(0x10, 0), Buffer.of(0x1a, 13), version]),
	);
});

test("scalars come back with tag, step and value", () => {
	const writer = openTensorboard(folder, { clock });
	writer.scalars(300, { "train/loss": 2.5, größe: -0.125 });
	writer.scalars(2 ** 40 + 1, { ["x".repeat(200)]: Number.NaN });
	writer.close();
	const [, second, third] = records(writer.file).map(fields);
	const values = (event: Field[] | undefined) =>
		fields(event?.[2]?.[1] as Buffer).map(([number, value]) => {
			expect(number).toBe(1);
			const [tag, scalar] = fields(value as Buffer);
			return [tag?.[0], String(tag?.[1]), scalar];
		});
	expect(second?.slice(0, 2)).toEqual([WALL, [2, 300n]]);
	expect(second?.[2]?.[0]).toBe(5);
	expect(values(second)).toEqual([
		[1, "train/loss", [2, 2.5]],
		[1, "größe", [2, -0.125]],
	]);
	expect(third?.slice(0, 2)).toEqual([WALL, [2, 2n ** 40n + 1n]]);
	expect(values(third)).toEqual([[1, "x".repeat(200), [2, Number.NaN]]]);
});

test("a resumed run opens its own file and asks to forget later steps", () => {
	const first = openTensorboard(folder, { clock });
	first.close();
	const second = openTensorboard(folder, { clock, resumeAt: 41 });
	second.close();
	expect(readdirSync(folder).sort()).toEqual([basename(first.file), basename(second.file)]);
	expect(basename(first.file)).toMatch(/^events\.out\.tfevents\.1500000000\..+\.0$/);
	const [, start] = records(second.file);
	expect(fields(start)).toEqual([WALL, [2, 42n], [7, Buffer.of(0x08, 1)]]);
});

test("a clock that is set back leaves times that do not decrease, in files that sort by age", () => {
	const times = [1_500_000_000_000, 1_500_000_000_500, 1_400_000_000_000, 1_500_000_001_000];
	const first = openTensorboard(folder, { clock: () => times.shift() as number });
	for (const step of [1, 2]) first.scalars(step, { loss: 1 });
	first.close();
	const walls = records(first.file).map((record) => fields(record)[0]?.[1]);
	expect(walls).toEqual([1_500_000_000.5, 1_500_000_000.5, 1_500_000_001]);
	const second = openTensorboard(folder, { clock: () => 1_400_000_000_000, resumeAt: 2 });
	second.scalars(3, { loss: 1 });
	second.close();
	expect(readdirSync(folder).sort()).toEqual([basename(first.file), basename(second.file)]);
	for (const record of records(second.file))
		expect(fields(record)[0]?.[1]).toBeGreaterThanOrEqual(1_500_000_000);
});

test("a folder that cannot be made is said", () => {
	const file = join(folder, "file");
	writeFileSync(file, "");
	expect(() => openTensorboard(join(file, "events"), { clock })).toThrow(
		/cannot write TensorBoard events: .*is a file, not a folder/,
	);
});
