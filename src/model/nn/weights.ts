import type { Random } from "../../base/random.js";
import { type FixedShape, parameter, size, type Tensor } from "../../engine/tensor/index.js";

/** A learned tensor: its shape, and how its numbers are drawn at the start. */
export interface WeightSpec {
	readonly shape: FixedShape;
	readonly draw: (random: Random, index: number) => number;
	/** Not learned by gradient: training moves it by other means, as running averages. */
	readonly moving?: true;
	/** Not learned at all: what training starts from says what it is. */
	readonly fixed?: true;
	/** Learned from events so rare that most batches have none: see `adamWDefaults.rareBeta2`. */
	readonly rare?: true;
	/** Whether weight decay shrinks it. Default: whether it is a matrix. */
	readonly decays?: false;
}

export type WeightSpecs = Readonly<Record<string, WeightSpec>>;

/** The tensors of a model, by name; an unknown name is an error. */
export type Weights = (name: string) => Tensor;

export const normal = (shape: FixedShape, deviation: number): WeightSpec => ({
	shape,
	draw: (random) => deviation * random.normal(),
});

export const uniform = (shape: FixedShape, bound: number): WeightSpec => ({
	shape,
	draw: (random) => bound * (2 * random.uniform() - 1),
});

export const filledWith = (value: number, shape: FixedShape): WeightSpec => ({
	shape,
	draw: () => value,
});

/** Not drawn: it starts with these values. */
export const listed = (shape: FixedShape, values: ArrayLike<number>): WeightSpec => ({
	shape,
	draw: (_random, index) => values[index],
});

/** The same specs, learned from rare events. */
export const fromRareEvents = (specs: WeightSpecs): WeightSpecs =>
	Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, { ...spec, rare: true }]));

/** Specs, inputs or their values under a prefix, `prefix.name`. */
export const nested = <T>(
	prefix: string,
	values: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> =>
	Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}.${name}`, value]));

/** The same specs so many times, `prefix.0.name`, `prefix.1.name` … */
export const numbered = (prefix: string, count: number, specs: WeightSpecs): WeightSpecs =>
	Object.assign({}, ...Array.from({ length: count }, (_, i) => nested(`${prefix}.${i}`, specs)));

export const within =
	(p: Weights, prefix: string): Weights =>
	(name) =>
		p(`${prefix}.${name}`);

/** The weights under each of the prefixes that `numbered` makes. */
export const withinEach = (p: Weights, prefix: string, count: number): Weights[] =>
	Array.from({ length: count }, (_, i) => within(p, `${prefix}.${i}`));

/** Values for all specs; each name has draws of its own, so one more changes no other. */
export function drawWeights(
	specs: WeightSpecs,
	random: Random,
): Map<string, { readonly shape: FixedShape; readonly data: Float32Array }> {
	return new Map(
		Object.entries(specs).map(([name, { shape, draw }]) => {
			const stream = random.fork(name);
			const data = new Float32Array(size(shape));
			for (let i = 0; i < data.length; i++) data[i] = draw(stream, i);
			return [name, { shape, data }];
		}),
	);
}

/** The parameters of a graph, one for each of these weights. */
export const parametersOf = (
	weights: ReadonlyMap<string, { readonly shape: FixedShape }>,
): Record<string, Tensor> =>
	Object.fromEntries([...weights].map(([name, { shape }]) => [name, parameter(name, shape)]));

export const weightsOf =
	(parameters: Readonly<Record<string, Tensor>>): Weights =>
	(name) => {
		const tensor = parameters[name];
		if (!tensor) throw new Error(`no parameter "${name}"; are these another model's weights?`);
		return tensor;
	};
