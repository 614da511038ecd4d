import type { Tensor } from "../../tensor.js";
import type { OnnxWriter } from "./writer.js";

/**
 * Sizes that a model leaves open. A graph is built with numbers for them, and where such a number
 * is written it is read off a tensor instead, when the model runs. The numbers must divide no other
 * size of the graph; primes that divide none do.
 */
export interface OpenSizes {
	nameOf(size: number): string | undefined;
	/** Remembers where sizes can be read. */
	meet(tensor: Tensor, name: string): void;
	/** Writes whole numbers that depend on open sizes; undefined where none does. */
	integers(values: readonly number[], write: OnnxWriter): string | undefined;
	/** A constant cannot have an open size. */
	refuseConstant(shape: readonly number[]): void;
}

export function openSizes(sizes: Readonly<Record<string, number>>): OpenSizes {
	const entries = Object.entries(sizes);
	const places = new Map<number, { readonly name: string; readonly axis: number }>();
	const isOpen = (value: number) => entries.some(([, size]) => value !== 0 && value % size === 0);

	const sizeNow = (size: number, write: OnnxWriter): string => {
		const place = places.get(size);
		if (!place) throw new Error(`no tensor shows the open size ${size}`);
		return write.node("Shape", [place.name], { start: place.axis, end: place.axis + 1 });
	};
	/** A value is a fixed number times open sizes. */
	const one = (value: number, write: OnnxWriter): string => {
		const factors: string[] = [];
		let rest = value;
		for (const [, size] of entries)
			for (; rest % size === 0; rest /= size) factors.push(sizeNow(size, write));
		const all = rest === 1 ? factors : [...factors, write.integers([rest])];
		return all.reduce((product, factor) => write.node("Mul", [product, factor]));
	};

	return {
		nameOf: (size) => entries.find(([, own]) => own === size)?.[0],
		meet({ shape }, name) {
			for (const [, size] of entries) {
				const axis = shape.indexOf(size);
				if (axis >= 0 && !places.has(size)) places.set(size, { name, axis });
			}
		},
		integers(values, write) {
			if (!values.some(isOpen)) return undefined;
			const parts: string[] = [];
			let fixed: number[] = [];
			const close = () => {
				if (fixed.length > 0) parts.push(write.integers(fixed));
				fixed = [];
			};
			for (const value of values) {
				if (!isOpen(value)) fixed.push(value);
				else {
					close();
					parts.push(one(value, write));
				}
			}
			close();
			return parts.length === 1 ? (parts[0] as string) : write.node("Concat", parts, { axis: 0 });
		},
		refuseConstant(shape) {
			if (shape.some(isOpen))
				throw new Error(`a constant of [${shape.join(", ")}] has a size that is to stay open`);
		},
	};
}
