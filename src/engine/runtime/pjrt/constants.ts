import type { NamedType } from "../../tensor/index.js";
import { arrays, type Data } from "../runtime.js";
import type { DeviceBuffer } from "./client.js";
import type { DeviceGroup } from "./device-group.js";

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
		const own = new Set<ArrayLike<number>>();
		return {
			get({ name, dtype, shape }) {
				const values = weights.get(name);
				if (!values) return undefined;
				const known = shared.get(values);
				if (own.has(values)) return known?.buffers;
				const data = values instanceof arrays[dtype] ? values : arrays[dtype].from(values);
				const entry = known ?? { buffers: group.upload(data as Data, shape), users: 0 };
				entry.users++;
				shared.set(values, entry);
				own.add(values);
				return entry.buffers;
			},
			release() {
				for (const values of own) {
					const entry = shared.get(values);
					if (!entry || --entry.users > 0) continue;
					shared.delete(values);
					for (const buffer of entry.buffers) buffer.destroy();
				}
				own.clear();
			},
		};
	};
}
