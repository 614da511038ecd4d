import { InputError } from "../../../base/errors.js";
import type { FixedShape, NamedType } from "../../tensor/index.js";
import { arrays, type Data, dtypeOf, type Resident, type ResidentValue } from "../runtime.js";
import type { Client, Device, DeviceBuffer } from "./client.js";
import { PjrtError } from "./native.js";

/** Devices that run each program at the same time. Out of memory is an `InputError` here. */
export class DeviceGroup {
	constructor(
		readonly client: Client,
		readonly devices: readonly [Device, ...Device[]],
	) {}

	/** Copies data to each device, or those of its own if there is one array per device. */
	upload(data: Data | readonly Data[], shape: FixedShape): DeviceBuffer[] {
		const made: DeviceBuffer[] = [];
		try {
			for (const [i, device] of this.devices.entries()) {
				const array = ArrayBuffer.isView(data) ? data : data[i];
				made.push(this.client.upload(device, array, dtypeOf(array), shape));
			}
			return made;
		} catch (error) {
			for (const buffer of made) buffer.destroy();
			throw this.explained(error, "copying a tensor to it");
		}
	}

	download(copies: Parameters<Client["download"]>[0]): Promise<void> {
		return this.client.download(copies).catch((error) => {
			throw this.explained(error, "running a program");
		});
	}

	/** An error that a user can act on, if it is one. */
	explained(error: unknown, doing: string): unknown {
		if (!(error instanceof PjrtError && error.outOfMemory)) return error;
		const [device] = this.devices;
		const { inUse, limit } = this.client.memory(device) ?? {};
		const memory =
			inUse === undefined || limit === undefined
				? ""
				: ` (${gibibytes(inUse)} of ${gibibytes(limit)} GiB in use)`;
		const [reason = ""] = error.message.split("\n");
		return new InputError(
			`${device.kind} is out of memory${memory} while ${doing}: ${reason.slice(0, 300)}; lower \`batchSlots\` or \`maxLength\`, choose a smaller \`preset\`, or end other programs that use the device`,
			{ cause: error },
		);
	}
}

const gibibytes = (bytes: number) => (bytes / 2 ** 30).toFixed(1);

/** Tensors that stay on the devices: one copy per device, equal unless a program makes them differ. */
export class XlaResident implements Resident {
	readonly #group: DeviceGroup;
	readonly #buffers = new Map<string, readonly DeviceBuffer[]>();
	readonly #types = new Map<string, { dtype: ReturnType<typeof dtypeOf>; shape: FixedShape }>();

	constructor(group: DeviceGroup, values: ReadonlyMap<string, ResidentValue>) {
		this.#group = group;
		try {
			for (const [name, { data, shape }] of values) {
				this.#buffers.set(name, group.upload(data, shape));
				this.#types.set(name, { dtype: dtypeOf(data), shape });
			}
		} catch (error) {
			this.dispose();
			throw error;
		}
	}

	get(name: string): readonly DeviceBuffer[] | undefined {
		return this.#buffers.get(name);
	}

	replace(successors: ReadonlyMap<string, readonly DeviceBuffer[]>): void {
		for (const [name, buffers] of successors) {
			for (const old of this.#buffers.get(name) ?? []) old.destroy();
			this.#buffers.set(name, buffers);
		}
	}

	async read(): Promise<Map<string, ResidentValue>> {
		const values = [...this.#types].map(([name, { dtype, shape }]) => {
			const data: Data = new arrays[dtype](shape.reduce((a, b) => a * b, 1));
			const [from] = this.#buffers.get(name) as readonly [DeviceBuffer];
			return { name, shape, from, data };
		});
		await this.#group.download(values.map(({ from, data }) => ({ from, to: data })));
		return new Map(values.map(({ name, shape, data }) => [name, { shape, data }]));
	}

	dispose(): void {
		for (const buffers of this.#buffers.values()) for (const buffer of buffers) buffer.destroy();
		this.#buffers.clear();
		this.#types.clear();
	}
}

type Weights = ReadonlyMap<string, ArrayLike<number>>;

/** The weights that a graph takes as constants, on the devices. */
export interface Constants {
	get(input: NamedType): readonly DeviceBuffer[] | undefined;
	release(): void;
}

/** Weights are uploaded on first use and once for all graphs that have the same array. */
export function sharedConstants(group: DeviceGroup): (weights: Weights) => Constants {
	const shared = new Map<
		ArrayLike<number>,
		{ readonly buffers: readonly DeviceBuffer[]; users: number }
	>();
	return (weights) => {
		const seen = new Set<ArrayLike<number>>();
		return {
			get({ name, dtype, shape }) {
				const values = weights.get(name);
				if (!values) return undefined;
				const known = shared.get(values);
				if (seen.has(values)) return known?.buffers;
				const data = values instanceof arrays[dtype] ? values : arrays[dtype].from(values);
				const entry = known ?? { buffers: group.upload(data as Data, shape), users: 0 };
				entry.users++;
				shared.set(values, entry);
				seen.add(values);
				return entry.buffers;
			},
			release() {
				for (const values of seen) {
					const entry = shared.get(values);
					if (!entry || --entry.users > 0) continue;
					shared.delete(values);
					for (const buffer of entry.buffers) buffer.destroy();
				}
				seen.clear();
			},
		};
	};
}
