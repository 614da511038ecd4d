import { closeSync, existsSync, mkdirSync, openSync, readdirSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { InputError } from "../../base/errors.js";
import { writeFully } from "../../base/files/index.js";
import { errorCode, explainError } from "../../base/system-errors.js";

/** The reversed Castagnoli polynomial. */
const POLYNOMIAL = 0x82f63b78;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
	let crc = byte;
	for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
	return crc;
});

export function crc32c(bytes: Uint8Array): number {
	let crc = 0xffffffff;
	for (const byte of bytes) crc = (crc >>> 8) ^ table[(crc ^ byte) & 0xff];
	return (crc ^ 0xffffffff) >>> 0;
}

/** As TFRecord stores it: rotated and shifted, so that the CRC of data holding CRCs stays good. */
export function maskedCrc32c(bytes: Uint8Array): number {
	const crc = crc32c(bytes);
	return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/**
 * Starts a new event file in `folder`; TensorBoard reads all files of a folder as one run. The clock tells
 * milliseconds since 1970; `resumeAt` makes it forget what earlier files of the folder say of later steps.
 */
export function openTensorboard(
	folder: string,
	{ clock, resumeAt }: { readonly clock: () => number; readonly resumeAt?: number },
) {
	// Times never decrease, within a file or from one file to the next, also where the clock was set back.
	let latest = guard(folder, () => Math.max(clock() / 1000, lastSecond(folder)));
	const seconds = () => {
		latest = Math.max(latest, clock() / 1000);
		return latest;
	};
	const { file, handle } = guard(folder, () => openNew(folder, Math.floor(latest)));
	const write = (event: Event) => guard(file, () => writeFully(handle, record(encode(event))));
	write({ wallTime: seconds(), step: 0, fileVersion: "brain.Event:2" });
	if (resumeAt !== undefined) write({ wallTime: seconds(), step: resumeAt + 1, starts: true });
	return {
		file,
		scalars: (step: number, values: Readonly<Record<string, number>>): void =>
			write({ wallTime: seconds(), step, values }),
		close: () => closeSync(handle),
	};
}

/** The last second in which a file of the folder was begun. TensorBoard reads files by name, so by it. */
function lastSecond(folder: string): number {
	const begun = existsSync(folder)
		? readdirSync(folder).map((name) =>
				Number(/^events\.out\.tfevents\.(\d+)\./.exec(name)?.[1] ?? 0),
			)
		: [];
	return begun.reduce((last, second) => Math.max(last, second), 0);
}

function openNew(folder: string, second: number) {
	mkdirSync(folder, { recursive: true });
	const stem = `events.out.tfevents.${String(second).padStart(10, "0")}.${hostname()}.${process.pid}`;
	for (let count = 0; ; count++) {
		const file = join(folder, `${stem}.${count}`);
		try {
			return { file, handle: openSync(file, "wx") };
		} catch (error) {
			if (errorCode(error) !== "EEXIST") throw error;
		}
	}
}

function guard<T>(where: string, action: () => T): T {
	try {
		return action();
	} catch (error) {
		throw new InputError(`cannot write TensorBoard events: ${where}: ${explainError(error)}`, {
			cause: error,
		});
	}
}

/** TFRecord: length, its CRC, the data, its CRC; little-endian. */
function record(data: Uint8Array): Uint8Array {
	const framed = new Uint8Array(8 + 4 + data.length + 4);
	const fields = new DataView(framed.buffer);
	fields.setBigUint64(0, BigInt(data.length), true);
	fields.setUint32(8, maskedCrc32c(framed.subarray(0, 8)), true);
	framed.set(data, 12);
	fields.setUint32(12 + data.length, maskedCrc32c(data), true);
	return framed;
}

interface Event {
	readonly wallTime: number;
	readonly step: number;
	readonly fileVersion?: string;
	readonly values?: Readonly<Record<string, number>>;
	readonly starts?: boolean;
}

/** tensorboard/compat/proto: event.proto and summary.proto; the numbers are their field numbers. */
function encode({ wallTime, step, fileVersion, values, starts }: Event): Uint8Array {
	const event = new BinaryWriter();
	const text = (field: number, value: string) =>
		event.tag(field, WireType.LengthDelimited).string(value);
	const message = (field: number, write: () => void) => {
		event.tag(field, WireType.LengthDelimited).fork();
		write();
		event.join();
	};
	event.tag(1, WireType.Bit64).double(wallTime);
	event.tag(2, WireType.Varint).int64(step);
	if (fileVersion !== undefined) text(3, fileVersion);
	if (values !== undefined)
		message(5, () => {
			for (const [tag, value] of Object.entries(values))
				message(1, () => {
					text(1, tag);
					event.tag(2, WireType.Bit32).float(Math.fround(value));
				});
		});
	if (starts) message(7, () => event.tag(1, WireType.Varint).int32(1)); // SessionLog.status = START
	return event.finish();
}
