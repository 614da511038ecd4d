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

/** The index on each axis of an element, by its place. */
const indexOf = (place: number, shape: readonly number[]): number[] => {
	const index = new Array<number>(shape.length);
	for (let axis = shape.length - 1, rest = place; axis >= 0; axis--) {
		const n = shape[axis];
		index[axis] = rest % n;
		rest = Math.floor(rest / n);
	}
	return index;
};

const at = (x: Array_, index: readonly number[]): number => x.data[placeOf(x.shape, index)];

const placeOf = (shape: readonly number[], index: readonly number[]): number =>
	shape.reduce((place, n, axis) => place * n + index[axis], 0);

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

/** The numbers of a `dense` attribute. */
function densely({ dense, shape, type }: DenseAttribute): Array_ {
	const hex = /^"0x([0-9A-F]*)"$/.exec(dense)?.[1];
	const wide: Readonly<Record<string, number>> = { f32: 4, f64: 8, i32: 4, i8: 1 };
	const read = (view: DataView, place: number, littleEndian: boolean) => {
		if (type === "f32") return view.getFloat32(place, littleEndian);
		if (type === "f64") return view.getFloat64(place, littleEndian);
		return type === "i32" ? view.getInt32(place, littleEndian) : view.getInt8(place);
	};
	const viewOf = (text: string) =>
		new DataView(
			Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)).buffer,
		);
	if (hex !== undefined) {
		const view = viewOf(hex);
		const width = wide[type];
		if (view.byteLength !== width * countOf(shape))
			throw new Error(`${dense} does not fill ${shape}`);
		return make({ shape, type }, (i) => read(view, i * width, true));
	}
	const items = dense.replace(/[[\]\s]/g, "").split(",");
	const opened = /^\[*/.exec(dense)?.[0].length ?? 0;
	if (items.length !== countOf(shape) || opened !== shape.length)
		throw new Error(`${dense} does not fill ${shape}`);
	const one = (item: string) => {
		if (item === "true" || item === "false") return Number(item === "true");
		if (item.startsWith("0x")) return read(viewOf(item.slice(2)), 0, false);
		const isWell = isInteger(type) ? /^-?\d+$/ : /^-?\d+\.\d*(e[-+]?\d+)?$/;
		if (!isWell.test(item)) throw new Error(`${item} is no literal of ${type}`);
		return Number(item);
	};
	return make({ shape, type }, (i) => one(items[i]));
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

interface StartAxes {
	/** The axis of the indices along which those of one start lie. */
	readonly vector: number;
	/** The axis of the operand that each of them is of. */
	readonly map: readonly number[];
	/** Axes of the operand that follow axes of the indices. */
	readonly batchAxes: readonly number[];
	readonly startAxes: readonly number[];
	/** The size of a slice along each axis. */
	readonly sizes: readonly number[];
}

/** Where a slice of the operand starts, from its place among the indices. */
const starting =
	(
		operation: ParsedOperation,
		x: Array_,
		starts: Array_,
		{ vector, map, batchAxes, startAxes, sizes }: StartAxes,
	) =>
	(batch: readonly number[]): number[] => {
		const start = x.shape.map(() => 0);
		map.forEach((axis, i) => {
			const place = [...batch];
			if (vector < starts.shape.length) place.splice(vector, 0, i);
			start[axis] = at(starts, place);
			const isInside = start[axis] >= 0 && start[axis] + sizes[axis] <= x.shape[axis];
			check(isInside, operation, `index ${start[axis]}`);
		});
		batchAxes.forEach((axis, i) => {
			start[axis] = batch[startAxes[i] < vector ? startAxes[i] : startAxes[i] - 1];
		});
		return start;
	};

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
		const padded = make(typed(x, shape), () => value.data[0]);
		// What is cut off is left out.
		const from = low.map((n) => Math.max(-n, 0));
		const kept = x.shape.map((n, i) => n - from[i] - Math.max(-high[i], 0));
		const source = places(kept, stridesOf(x.shape), placeOf(x.shape, from));
		const starts = low.map((n) => Math.max(n, 0));
		places(kept, stridesOf(shape), placeOf(shape, starts)).forEach((to, i) => {
			padded.data[to] = x.data[source[i]];
		});
		return [padded];
	},
	concatenate: (operation, parts) => {
		const axis = operation.attributes.dimension as number;
		const [first] = parts as [Array_];
		const total = parts.reduce((n, part) => n + part.shape[axis], 0);
		const shape = first.shape.map((n, i) => (i === axis ? total : n));
		const joined = make(typed(first, shape), () => 0);
		const steps = stridesOf(shape);
		let start = 0;
		for (const part of parts) {
			const fits = part.shape.every((n, i) => i === axis || n === first.shape[i]);
			check(fits && part.type === first.type, operation, "parts differ");
			places(part.shape, steps, start * steps[axis]).forEach((to, i) => {
				joined.data[to] = part.data[i];
			});
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
		const dimensions = operation.attributes.dimension_numbers as Record<string, Attribute>;
		const list = (name: string) => numbers(dimensions[name]);
		const vector = dimensions.index_vector_dim as number;
		const sizes = numbers(operation.attributes.slice_sizes);
		const offsets = list("offset_dims");
		const batchAxes = list("operand_batching_dims");
		const collapsed = [...list("collapsed_slice_dims"), ...batchAxes];
		const startOf = starting(operation, x, starts, {
			vector,
			map: list("start_index_map"),
			batchAxes,
			startAxes: list("start_indices_batching_dims"),
			sizes,
		});
		const batchShape = starts.shape.filter((_, i) => i !== vector);
		const sliceShape = sizes.filter((_, i) => !collapsed.includes(i));
		const areSingle = collapsed.every((axis) => sizes[axis] === 1);
		check(areSingle, operation, "a collapsed slice is not 1 long");
		const rank = batchShape.length + sliceShape.length;
		const shape: number[] = [];
		for (let axis = 0, b = 0, o = 0; axis < rank; axis++)
			shape.push(offsets.includes(axis) ? sliceShape[o++] : batchShape[b++]);
		const axes = x.shape.flatMap((_, axis) => (collapsed.includes(axis) ? [] : [axis]));
		return [
			tabulated(typed(x, shape), (index) => {
				const from = startOf(index.filter((_, axis) => !offsets.includes(axis)));
				offsets.forEach((axis, i) => {
					from[axes[i]] += index[axis];
				});
				return at(x, from);
			}),
		];
	},
	scatter: (operation, operands) => {
		const [x, starts, updates] = operands as [Array_, Array_, Array_];
		const dimensions = operation.attributes.scatter_dimension_numbers as Record<string, Attribute>;
		const list = (name: string) => numbers(dimensions[name]);
		const windows = list("update_window_dims");
		const batchAxes = list("input_batching_dims");
		const startOf = starting(operation, x, starts, {
			vector: dimensions.index_vector_dim as number,
			map: list("scatter_dims_to_operand_dims"),
			batchAxes,
			startAxes: list("scatter_indices_batching_dims"),
			sizes: x.shape.map(() => 1),
		});
		const inserted = [...list("inserted_window_dims"), ...batchAxes];
		const axes = x.shape.flatMap((_, axis) => (inserted.includes(axis) ? [] : [axis]));
		check(axes.length === windows.length, operation, "axes are missing");
		check(typeName(x) === typeName(operation.resultTypes[0]), operation, "another result");
		const combine = scalarFunction(operation.regions[0]);
		const data = Float64Array.from(x.data);
		for (const index of indices(updates.shape)) {
			const to = startOf(index.filter((_, axis) => !windows.includes(axis)));
			windows.forEach((axis, i) => {
				to[axes[i]] += index[axis];
			});
			const place = placeOf(x.shape, to);
			data[place] = combine(data[place], at(updates, index))[0];
		}
		return [{ ...x, data }];
	},
	sort: (operation, operands) => {
		const axis = operation.attributes.dimension as number;
		check(operation.attributes.is_stable === true, operation, "not stable");
		const isBefore = scalarFunction(operation.regions[0]);
		const { shape } = operands[0];
		const results = operands.map((x) => ({ ...x, data: Float64Array.from(x.data) }));
		for (const start of indices(shape.map((n, i) => (i === axis ? 1 : n)))) {
			const step = stridesOf(shape)[axis];
			const places = Array.from(
				{ length: shape[axis] },
				(_, k) => placeOf(shape, start) + k * step,
			);
			const order = [...places].sort((p, q) => {
				const pair = (a: number, b: number) => operands.flatMap((x) => [x.data[a], x.data[b]]);
				return isBefore(...pair(p, q))[0] ? -1 : isBefore(...pair(q, p))[0] ? 1 : 0;
			});
			results.forEach((r, i) => {
				order.forEach((from, k) => {
					r.data[places[k]] = operands[i].data[from];
				});
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
	dynamic_update_slice: (_, [x, update, ...starts]) => {
		const start = placeOf(x.shape, clamped(x, starts, update.shape));
		const data = Float64Array.from(x.data);
		places(update.shape, stridesOf(x.shape), start).forEach((to, i) => {
			data[to] = update.data[i];
		});
		return [{ ...x, data }];
	},
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
