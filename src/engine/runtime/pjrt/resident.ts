import type { FixedShape } from "../../tensor/index.js";
import { arrays, type Data, dtypeOf, type Resident, type ResidentValue } from "../runtime.js";
import type { DeviceBuffer } from "./client.js";
import type { DeviceGroup } from "./device-group.js";

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
