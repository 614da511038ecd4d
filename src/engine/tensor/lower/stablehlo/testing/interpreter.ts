import {
	type Attribute,
	type DenseAttribute,
	type ParsedOperation,
	parseModule,
	type Region,
	type TypeOf,
	typeName,
} from "./parser.js";

/** Runs the text of a StableHLO program in plain loops, and checks each type it declares. */

interface Array_ extends TypeOf {
	readonly data: Float64Array;
}

const countOf = (shape: readonly number[]) => shape.reduce((n, m) => n * m, 1);

const shortBits = new Uint32Array(1);
const shortFloat = new Float32Array(shortBits.buffer);
/** To the nearest bfloat16, ties to the even one. */
function bfloat16(x: number): number {
	shortFloat[0] = x;
	const bits = shortBits[0];
	if (Number.isNaN(x)) return x;
	shortBits[0] = (bits + 0x7fff + ((bits >>> 16) & 1)) & 0xffff0000;
	return shortFloat[0];
}

const rounded: Readonly<Record<string, (x: number) => number>> = {
	f64: (x) => x,
	f32: Math.fround,
	bf16: bfloat16,
	i32: (x) => x | 0,
	i8: (x) => (x << 24) >> 24,
	i1: (x) => Number(x !== 0),
};

function make({ shape, type }: TypeOf, value: (i: number) => number): Array_ {
	const round = rounded[type];
	const data = new Float64Array(countOf(shape));
	for (let i = 0; i < data.length; i++) data[i] = round(value(i));
	return { shape, type, data };
}

const stridesOf = (shape: readonly number[]) => {
	const strides = new Array<number>(shape.length);
	for (let axis = shape.length - 1, step = 1; axis >= 0; axis--) {
		strides[axis] = step;
		step *= shape[axis];
	}
	return strides;
};

/** A place for each index of a shape, in row-major order: a start, and what a step along each axis adds to it. */
function places(shape: readonly number[], steps: readonly number[], start = 0): Int32Array {
	const found = new Int32Array(countOf(shape));
	const index = shape.map(() => 0);
	let place = start;
	for (let i = 0; i < found.length; i++) {
		found[i] = place;
		for (let axis = shape.length - 1; axis >= 0; axis--) {
			place += steps[axis];
			if (++index[axis] < shape[axis]) break;
			place -= steps[axis] * shape[axis];
			index[axis] = 0;
		}
	}
	return found;
}

/** Elements of an array, chosen by places. */
function chosen(
	x: Array_,
	shape: readonly number[],
	steps: readonly number[],
	start = 0,
): readonly [Array_] {
	const from = places(shape, steps, start);
	return [{ shape, type: x.type, data: Float64Array.from(from, (place) => x.data[place]) }];
}

/** An array with elements of another written over its own, from two indices on. */
function overwritten(
	x: Array_,
	part: Array_,
	to: readonly number[],
	from: readonly number[] = part.shape.map(() => 0),
	shape: readonly number[] = part.shape,
): Array_ {
	const data = Float64Array.from(x.data);
	const source = places(shape, stridesOf(part.shape), placeOf(part.shape, from));
	places(shape, stridesOf(x.shape), placeOf(x.shape, to)).forEach((place, i) => {
		data[place] = part.data[source[i]];
	});
	return { ...x, data };
}

/** The index on each axis of an element, by its place. */
const indexOf = (place: number, shape: readonly number[]): number[] =>
	stridesOf(shape).map((step, axis) => Math.floor(place / step) % shape[axis]);

const placeOf = (shape: readonly number[], index: readonly number[]): number =>
	shape.reduce((place, n, axis) => place * n + index[axis], 0);

const at = (x: Array_, index: readonly number[]): number => x.data[placeOf(x.shape, index)];

const indices = (shape: readonly number[]): number[][] =>
	Array.from({ length: countOf(shape) }, (_, place) => indexOf(place, shape));

type Unary = (x: number) => number;
type Binary = (x: number, y: number) => number;

const unary: Readonly<Record<string, Unary>> = {
	negate: (x) => -x,
	exponential: Math.exp,
	log: Math.log,
	sqrt: Math.sqrt,
	sine: Math.sin,
	cosine: Math.cos,
	tanh: Math.tanh,
	logistic: (x) => 1 / (1 + Math.exp(-x)),
	abs: Math.abs,
	sign: Math.sign,
	floor: Math.floor,
};

const isInteger = (type: string) => type === "i32" || type === "i8";

const binary: Readonly<Record<string, (type: string) => Binary>> = {
	add: () => (x, y) => x + y,
	subtract: () => (x, y) => x - y,
	multiply: (type) => (isInteger(type) ? Math.imul : (x, y) => x * y),
	divide: (type) => (isInteger(type) ? (x, y) => Math.trunc(x / y) : (x, y) => x / y),
	maximum: () => Math.max,
	minimum: () => Math.min,
	and: () => (x, y) => x & y,
	or: () => (x, y) => x | y,
};

const comparisons: Readonly<Record<string, Binary>> = {
	EQ: (x, y) => Number(x === y),
	LT: (x, y) => Number(x < y),
	GE: (x, y) => Number(x >= y),
	GT: (x, y) => Number(x > y),
};

const numbers = (value: Attribute | undefined): readonly number[] => (value ?? []) as number[];

function check(holds: boolean, operation: ParsedOperation, problem: string): void {
	if (!holds) throw new Error(`${operation.name}: ${problem}: ${JSON.stringify(operation)}`);
}

function checkOnes(operation: ParsedOperation, ...names: readonly string[]): void {
	for (const name of names) {
		const isPlain = numbers(operation.attributes[name]).every((n) => n === 1);
		check(isPlain, operation, `${name} is not 1`);
	}
}

const arrays = { f32: Float32Array, f64: Float64Array, i32: Int32Array, i8: Int8Array };

/** Numbers from the bytes that a text names, the first byte first. */
const numbersIn = (hex: readonly string[], type: string): ArrayLike<number> =>
	new arrays[type as keyof typeof arrays](
		Uint8Array.from(hex, (pair) => Number.parseInt(pair, 16)).buffer,
	);

/** The numbers of a `dense` attribute. */
function densely({ dense, shape, type }: DenseAttribute): Array_ {
	const bytes = /^"0x([0-9A-F]*)"$/.exec(dense)?.[1].match(/../g);
	const items = dense.replace(/[[\]\s]/g, "").split(",");
	const one = (item: string): number => {
		if (item === "true" || item === "false") return Number(item === "true");
		if (item.startsWith("0x"))
			return numbersIn((item.slice(2).match(/../g) ?? []).reverse(), type)[0];
		const isWell = isInteger(type) ? /^-?\d+$/ : /^-?\d+\.\d*(e[-+]?\d+)?$/;
		if (!isWell.test(item)) throw new Error(`${item} is no literal of ${type}`);
		return Number(item);
	};
	const values = bytes ? numbersIn(bytes, type) : items.map(one);
	const depth = /^\[*/.exec(dense)?.[0].length;
	if (values.length !== countOf(shape) || (!bytes && depth !== shape.length))
		throw new Error(`${dense} does not fill ${shape}`);
	return make({ shape, type }, (i) => values[i]);
}

/** A region on scalars. */
function scalarFunction(region: Region): (...given: number[]) => readonly number[] {
	const [first, last] = region.operations as [ParsedOperation, ParsedOperation];
	const names = region.parameters.map(({ name }) => name);
	const direct = binary[first.name.replace("stablehlo.", "")];
	const type = region.parameters[0]?.type;
	if (direct && region.operations.length === 2 && String(last.operands) === String(first.results)) {
		const [a, b] = first.operands.map((name) => names.indexOf(name)) as [number, number];
		const [combine, round] = [direct(type), rounded[type] as Unary];
		return (...given) => [round(combine(given[a], given[b]))];
	}
	return (...given) =>
		runRegion(
			region,
			region.parameters.map((parameter, i) => make(parameter, () => given[i])),
		).map(({ data }) => data[0]);
}

/** The names of gather and of scatter for the same axes. */
const addressNames = {
	gather: {
		dimensions: "dimension_numbers",
		windows: "offset_dims",
		dropped: "collapsed_slice_dims",
		batch: "operand_batching_dims",
		startBatch: "start_indices_batching_dims",
		map: "start_index_map",
	},
	scatter: {
		dimensions: "scatter_dimension_numbers",
		windows: "update_window_dims",
		dropped: "inserted_window_dims",
		batch: "input_batching_dims",
		startBatch: "scatter_indices_batching_dims",
		map: "scatter_dims_to_operand_dims",
	},
};

/** Which element of an array belongs to an index of the other side: of what is gathered, or of the updates. */
function addressed(
	operation: ParsedOperation,
	x: Array_,
	starts: Array_,
	sizes: readonly number[],
	names: (typeof addressNames)["gather"],
) {
	const dimensions = operation.attributes[names.dimensions] as Record<string, Attribute>;
	const [windows, dropped, batchAxes, startAxes, map] = [
		names.windows,
		names.dropped,
		names.batch,
		names.startBatch,
		names.map,
	].map((name) => numbers(dimensions[name])) as number[][];
	const vector = dimensions.index_vector_dim as number;
	const axes = x.shape.flatMap((_, axis) =>
		[...dropped, ...batchAxes].includes(axis) ? [] : [axis],
	);
	check(axes.length === windows.length, operation, "axes are missing");
	const indexIn = (index: readonly number[]): number[] => {
		const batch = index.filter((_, axis) => !windows.includes(axis));
		const from = x.shape.map(() => 0);
		map.forEach((axis, i) => {
			const place = [...batch];
			if (vector < starts.shape.length) place.splice(vector, 0, i);
			from[axis] = at(starts, place);
			const isInside = from[axis] >= 0 && from[axis] + sizes[axis] <= x.shape[axis];
			check(isInside, operation, `index ${from[axis]}`);
		});
		batchAxes.forEach((axis, i) => {
			from[axis] = batch[startAxes[i] < vector ? startAxes[i] : startAxes[i] - 1];
		});
		windows.forEach((axis, i) => {
			from[axes[i]] += index[axis];
		});
		return from;
	};
	return { windows, axes, vector, indexIn };
}

type Kernel = (operation: ParsedOperation, operands: readonly Array_[]) => readonly Array_[];

/** An array from a formula per index. */
function tabulated(type: TypeOf, value: (index: number[]) => number): Array_ {
	return make(type, (place) => value(indexOf(place, type.shape)));
}

const typed = (x: Array_, shape: readonly number[] = x.shape): TypeOf => ({ shape, type: x.type });

const kernels: Readonly<Record<string, Kernel>> = {
	constant: ({ attributes }) => [densely(attributes.value as DenseAttribute)],
	iota: ({ attributes, resultTypes: [type] }) => {
		const axis = attributes.iota_dimension as number;
		const shape = type.shape;
		const step = stridesOf(shape)[axis];
		return [make(type, (i) => Math.floor(i / step) % shape[axis])];
	},
	convert: ({ resultTypes: [to] }, [x]) => {
		const { shape, type, data } = x;
		const isWhole = isInteger(to.type) && !isInteger(type);
		return [make({ shape, type: to.type }, (i) => (isWhole ? Math.trunc(data[i]) : data[i]))];
	},
	compare: (operation, operands) => {
		const [a, b] = operands as [Array_, Array_];
		check(typeName(a) === typeName(b), operation, "operands differ in type");
		const kind = a.type === "i1" ? "UNSIGNED" : isInteger(a.type) ? "SIGNED" : "FLOAT";
		check(operation.attributes.compare_type === kind, operation, "wrong kind of comparison");
		const compare = comparisons[operation.attributes.comparison_direction as string];
		return [make({ shape: a.shape, type: "i1" }, (i) => compare(a.data[i], b.data[i]))];
	},
	select: (operation, operands) => {
		const [condition, a, b] = operands as [Array_, Array_, Array_];
		check(typeName(a) === typeName(b), operation, "branches differ in type");
		const fits = String(condition.shape) === String(a.shape) && condition.type === "i1";
		check(fits, operation, "no such condition");
		return [make(typed(a), (i) => (condition.data[i] ? a : b).data[i])];
	},
	reshape: (operation, [x]) => {
		const { shape } = operation.resultTypes[0];
		check(countOf(shape) === x?.data.length, operation, "sizes differ");
		return [{ ...x, shape }];
	},
	broadcast_in_dim: (operation, [x]) => {
		const { shape } = operation.resultTypes[0];
		const { shape: own } = x;
		const axes = numbers(operation.attributes.broadcast_dimensions);
		check(axes.length === own.length, operation, "one axis per axis is needed");
		check(new Set(axes).size === axes.length, operation, "an axis is named twice");
		const [steps, strides] = [shape.map(() => 0), stridesOf(own)];
		axes.forEach((axis, i) => {
			check(own[i] === 1 || own[i] === shape[axis], operation, "sizes differ");
			if (own[i] !== 1) steps[axis] = strides[i];
		});
		return chosen(x, shape, steps);
	},
	transpose: (operation, [x]) => {
		const order = numbers(operation.attributes.permutation);
		const strides = stridesOf(x.shape);
		return chosen(
			x,
			order.map((axis) => x.shape[axis]),
			order.map((axis) => strides[axis]),
		);
	},
	slice: (operation, [x]) => {
		const [starts, ends, strides] = [
			operation.attributes.start_indices,
			operation.attributes.limit_indices,
			operation.attributes.strides,
		].map(numbers) as [number[], number[], number[]];
		const isInside = x.shape.every(
			(n, i) => starts[i] >= 0 && starts[i] <= ends[i] && ends[i] <= n,
		);
		check(isInside, operation, "outside the operand");
		const own = stridesOf(x.shape);
		return chosen(
			x,
			starts.map((start, i) => Math.ceil((ends[i] - start) / strides[i])),
			own.map((step, i) => step * strides[i]),
			placeOf(x.shape, starts),
		);
	},
	pad: (operation, operands) => {
		const [x, value] = operands as [Array_, Array_];
		const low = numbers(operation.attributes.edge_padding_low);
		const high = numbers(operation.attributes.edge_padding_high);
		check(value.shape.length === 0 && value.type === x.type, operation, "no such value");
		const isOutside = numbers(operation.attributes.interior_padding).every((n) => n === 0);
		check(isOutside, operation, "padding within");
		const shape = x.shape.map((n, i) => n + low[i] + high[i]);
		const padding = make(typed(x, shape), () => value.data[0]);
		// What is cut off is left out.
		const from = low.map((n) => Math.max(-n, 0));
		const kept = x.shape.map((n, i) => n - from[i] - Math.max(-high[i], 0));
		const to = low.map((n) => Math.max(n, 0));
		return [overwritten(padding, x, to, from, kept)];
	},
	concatenate: (operation, parts) => {
		const axis = operation.attributes.dimension as number;
		const [first] = parts as [Array_];
		const total = parts.reduce((n, part) => n + part.shape[axis], 0);
		const shape = first.shape.map((n, i) => (i === axis ? total : n));
		let joined = make(typed(first, shape), () => 0);
		let start = 0;
		for (const part of parts) {
			const fits = part.shape.every((n, i) => i === axis || n === first.shape[i]);
			check(fits && part.type === first.type, operation, "parts differ");
			const to = shape.map((_, i) => (i === axis ? start : 0));
			joined = overwritten(joined, part, to);
			start += part.shape[axis];
		}
		return [joined];
	},
	reverse: (operation, [x]) => {
		const axes = numbers(operation.attributes.dimensions);
		const strides = stridesOf(x.shape);
		return chosen(
			x,
			x.shape,
			strides.map((step, i) => (axes.includes(i) ? -step : step)),
			axes.reduce((place, axis) => place + (x.shape[axis] - 1) * strides[axis], 0),
		);
	},
	dot_general: (operation, operands) => {
		const [a, b] = operands as [Array_, Array_];
		const axes = operation.attributes.dot_dimension_numbers as Record<string, number[]>;
		const [batchA, batchB] = [
			axes.lhs_batching_dimensions ?? [],
			axes.rhs_batching_dimensions ?? [],
		];
		const [innerA, innerB] = [axes.lhs_contracting_dimensions, axes.rhs_contracting_dimensions];
		const sizes = (x: Array_, list: readonly number[]) => list.map((axis) => x.shape[axis]);
		check(String(sizes(a, batchA)) === String(sizes(b, batchB)), operation, "batch sizes differ");
		check(String(sizes(a, innerA)) === String(sizes(b, innerB)), operation, "inner sizes differ");
		check(a.type === b.type, operation, "operands differ in type");
		const type = operation.resultTypes[0].type;
		check(type === a.type || (type === "f32" && a.type === "bf16"), operation, "no such product");
		const free = (x: Array_, ...taken: readonly number[][]) =>
			x.shape.flatMap((_, axis) => (taken.flat().includes(axis) ? [] : [axis]));
		const [freeA, freeB] = [free(a, batchA, innerA), free(b, batchB, innerB)];
		const shape = [...sizes(a, batchA), ...sizes(a, freeA), ...sizes(b, freeB)];
		const [stepA, stepB] = [stridesOf(a.shape), stridesOf(b.shape)];
		const steps = (own: readonly number[], axes: readonly number[]) => axes.map((i) => own[i]);
		const none = (axes: readonly number[]) => axes.map(() => 0);
		const ofA = places(shape, [...steps(stepA, batchA), ...steps(stepA, freeA), ...none(freeB)]);
		const ofB = places(shape, [...steps(stepB, batchB), ...none(freeA), ...steps(stepB, freeB)]);
		const along = sizes(a, innerA);
		const [inA, inB] = [places(along, steps(stepA, innerA)), places(along, steps(stepB, innerB))];
		return [
			make({ shape, type }, (place) => {
				const [p, q] = [ofA[place], ofB[place]];
				let sum = 0;
				for (let i = 0; i < inA.length; i++) sum += a.data[p + inA[i]] * b.data[q + inB[i]];
				return sum;
			}),
		];
	},
	reduce: (operation, operands) => {
		const count = operands.length / 2;
		const [arrays, initial] = [operands.slice(0, count), operands.slice(count)];
		const axes = numbers(operation.attributes.dimensions);
		const combine = scalarFunction(operation.regions[0]);
		const kept = arrays[0].shape.flatMap((_, axis) => (axes.includes(axis) ? [] : [axis]));
		const shape = kept.map((axis) => arrays[0].shape[axis]);
		const results = arrays.map((x, i) => make(typed(x, shape), () => initial[i].data[0]));
		const steps = arrays[0].shape.map(() => 0);
		stridesOf(shape).forEach((step, i) => {
			steps[kept[i]] = step;
		});
		places(arrays[0].shape, steps).forEach((to, from) => {
			const next = combine(...results.map((r) => r.data[to]), ...arrays.map((x) => x.data[from]));
			results.forEach((r, i) => {
				r.data[to] = next[i];
			});
		});
		return results;
	},
	reduce_window: (operation, operands) => {
		const [x, initial] = operands as [Array_, Array_];
		const { attributes } = operation;
		const window = numbers(attributes.window_dimensions);
		checkOnes(operation, "window_strides", "base_dilations", "window_dilations");
		const margins = densePairs(attributes.padding as DenseAttribute);
		const combine = scalarFunction(operation.regions[0]);
		const shape = x.shape.map((n, i) => n + margins[i][0] + margins[i][1] - window[i] + 1);
		const inside = indices(window);
		return [
			tabulated(typed(x, shape), (index) => {
				let value = initial.data[0];
				for (const offset of inside) {
					const from = index.map((n, i) => n + offset[i] - margins[i][0]);
					if (from.every((n, i) => n >= 0 && n < x.shape[i]))
						value = combine(value, at(x, from))[0];
				}
				return value;
			}),
		];
	},
	gather: (operation, operands) => {
		const [x, starts] = operands as [Array_, Array_];
		const sizes = numbers(operation.attributes.slice_sizes);
		const { windows, axes, vector, indexIn } = addressed(
			operation,
			x,
			starts,
			sizes,
			addressNames.gather,
		);
		const areSingle = sizes.every((size, axis) => size === 1 || axes.includes(axis));
		check(areSingle, operation, "a collapsed slice is not 1 long");
		const shape = starts.shape.filter((_, i) => i !== vector);
		windows.forEach((axis, i) => {
			shape.splice(axis, 0, sizes[axes[i]]);
		});
		return [tabulated(typed(x, shape), (index) => at(x, indexIn(index)))];
	},
	scatter: (operation, operands) => {
		const [x, starts, updates] = operands as [Array_, Array_, Array_];
		const ones = x.shape.map(() => 1);
		const { indexIn } = addressed(operation, x, starts, ones, addressNames.scatter);
		check(typeName(x) === typeName(operation.resultTypes[0]), operation, "another result");
		const combine = scalarFunction(operation.regions[0]);
		const data = Float64Array.from(x.data);
		for (const index of indices(updates.shape)) {
			const place = placeOf(x.shape, indexIn(index));
			data[place] = combine(data[place], at(updates, index))[0];
		}
		return [{ ...x, data }];
	},
	sort: (operation, operands) => {
		const axis = operation.attributes.dimension as number;
		check(operation.attributes.is_stable === true, operation, "not stable");
		const isBefore = scalarFunction(operation.regions[0]);
		const { shape } = operands[0];
		const step = stridesOf(shape)[axis];
		const results = operands.map((x) => ({ ...x, data: Float64Array.from(x.data) }));
		const compare = (p: number, q: number) =>
			isBefore(...operands.flatMap(({ data }) => [data[p], data[q]]))[0];
		for (const start of places(
			shape.map((n, i) => (i === axis ? 1 : n)),
			stridesOf(shape),
		)) {
			const line = Array.from({ length: shape[axis] }, (_, k) => start + k * step);
			line
				.toSorted((p, q) => (compare(p, q) ? -1 : compare(q, p)))
				.forEach((from, k) => {
					for (const [i, { data }] of results.entries()) data[line[k]] = operands[i].data[from];
				});
		}
		return results;
	},
	convolution: (operation, operands) => {
		const [x, w] = operands as [Array_, Array_];
		const { attributes, resultTypes } = operation;
		const isUsual = attributes.dimension_numbers === "[b, f, 0]x[o, i, 0]->[b, f, 0]";
		check(isUsual, operation, "another order of axes");
		checkOnes(operation, "window_strides", "lhs_dilation", "rhs_dilation");
		const reversed = attributes.window_reversal as readonly boolean[];
		check(!reversed.includes(true), operation, "a reversed kernel");
		check(attributes.batch_group_count === 1, operation, "groups of the batch");
		const [[before, after]] = densePairs(attributes.padding as DenseAttribute);
		const [batch, channels, length] = x.shape;
		const [out, inside, kernel] = w.shape;
		const groups = attributes.feature_group_count as number;
		check(inside * groups === channels && out % groups === 0, operation, "channels do not fit");
		const { type } = resultTypes[0];
		check(type === x.type || (type === "f32" && x.type === "bf16"), operation, "no such product");
		const shape = [batch, out, length + before + after - kernel + 1];
		return [
			tabulated({ shape, type }, ([n, o, place]) => {
				const first = Math.floor(o / (out / groups)) * inside;
				let sum = 0;
				for (let tap = 0; tap < kernel; tap++) {
					const from = place + tap - before;
					if (from < 0 || from >= length) continue;
					for (let c = 0; c < inside; c++) sum += at(x, [n, first + c, from]) * at(w, [o, c, tap]);
				}
				return sum;
			}),
		];
	},
	while: (operation, operands) => {
		const [condition, body] = operation.regions as [Region, Region];
		let state = operands;
		while (runRegion(condition, state)[0].data[0]) state = runRegion(body, state);
		return state;
	},
	dynamic_slice: (operation, [x, ...starts]) => {
		const sizes = numbers(operation.attributes.slice_sizes);
		return chosen(x, sizes, stridesOf(x.shape), placeOf(x.shape, clamped(x, starts, sizes)));
	},
	dynamic_update_slice: (_, [x, update, ...starts]) => [
		overwritten(x, update, clamped(x, starts, update.shape)),
	],
	// Every replica holds the same.
	all_reduce: (operation, [x]) => {
		const groups = operation.attributes.replica_groups as DenseAttribute;
		const combine = scalarFunction(operation.regions[0]);
		return [
			make(typed(x), (i) => {
				let sum = x.data[i];
				for (let replica = 1; replica < groups.shape[1]; replica++)
					sum = combine(sum, x.data[i])[0];
				return sum;
			}),
		];
	},
};

const clamped = (x: Array_, starts: readonly Array_[], sizes: readonly number[]) =>
	x.shape.map((n, i) => Math.min(Math.max(starts[i].data[0], 0), n - sizes[i]));

/** Rows of a matrix of whole numbers. */
function densePairs({ dense, shape }: DenseAttribute): number[][] {
	const rows = JSON.parse(dense) as number[][];
	if (rows.length !== shape[0] || rows.some((row) => row.length !== shape[1]))
		throw new Error(`${dense} does not fill ${shape}`);
	return rows;
}

const elementwise: Kernel = (operation, operands) => {
	const name = operation.name.replace("stablehlo.", "");
	const [a, b] = operands as [Array_, Array_];
	for (const x of operands)
		check(typeName(x) === typeName(a), operation, "operands differ in type");
	const one = unary[name];
	if (one && operands.length === 1) return [make(typed(a), (i) => one(a.data[i]))];
	const two = binary[name]?.(a.type);
	if (!two || operands.length !== 2) throw new Error(`${operation.name} is not known`);
	return [make(typed(a), (i) => two(a.data[i], b.data[i]))];
};

function runRegion(region: Region, given: readonly Array_[]): readonly Array_[] {
	const values = new Map<string, Array_>();
	region.parameters.forEach((parameter, i) => {
		if (typeName(parameter) !== typeName(given[i]))
			throw new Error(`${parameter.name} is given ${typeName(given[i])}`);
		values.set(parameter.name, given[i]);
	});
	for (const operation of region.operations) {
		const operands = operation.operands.map((name) => values.get(name)!);
		operands.forEach((x, i) => {
			const isDeclared = typeName(x) === typeName(operation.operandTypes[i]);
			check(isDeclared, operation, `operand ${i} is ${typeName(x)}`);
		});
		if (operation.name.endsWith(".return")) return operands;
		const kernel = kernels[operation.name.replace("stablehlo.", "")] ?? elementwise;
		const results = kernel(operation, operands);
		check(results.length === operation.results.length, operation, `has ${results.length} results`);
		results.forEach((x, i) => {
			const isDeclared = typeName(x) === typeName(operation.resultTypes[i]);
			check(isDeclared, operation, `result ${i} is ${typeName(x)}`);
			values.set(operation.results[i], x);
		});
	}
	throw new Error("a region does not return");
}

/** The results of a program, in their order, from its arguments in theirs. */
export function interpret(text: string, given: readonly ArrayLike<number>[]): Float64Array[] {
	const { main } = parseModule(text);
	const [body] = main.regions as [Region];
	const returned = body.operations.at(-1) as ParsedOperation;
	const types = (list: readonly TypeOf[]) => String(list.map(typeName));
	if (
		main.attributes.function_type !== `${types(body.parameters)} -> ${types(returned.operandTypes)}`
	)
		throw new Error("the function's type is not that of its body");
	return runRegion(
		body,
		body.parameters.map((parameter, i) => make(parameter, (at) => given[i][at])),
	).map(({ data }) => data);
}
