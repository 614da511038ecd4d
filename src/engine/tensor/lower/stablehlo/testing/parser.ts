/** Reads the part of MLIR's generic form that the writer uses, and checks that every name is defined before it is used. */

export interface TypeOf {
	readonly shape: readonly number[];
	readonly type: string;
}

export interface DenseAttribute extends TypeOf {
	readonly dense: string;
}

export type Attribute =
	| number
	| boolean
	| string
	| DenseAttribute
	| readonly Attribute[]
	| { readonly [name: string]: Attribute };

export interface ParsedOperation {
	readonly name: string;
	readonly results: readonly string[];
	readonly operands: readonly string[];
	readonly attributes: Readonly<Record<string, Attribute>>;
	readonly regions: readonly Region[];
	readonly operandTypes: readonly TypeOf[];
	readonly resultTypes: readonly TypeOf[];
}

export interface Region {
	readonly parameters: readonly (TypeOf & { readonly name: string })[];
	readonly operations: readonly ParsedOperation[];
}

export const typeName = ({ shape, type }: TypeOf): string =>
	`tensor<${[...shape, type].join("x")}>`;

class Reader {
	private at = 0;
	/** Names defined in each open region, the innermost last. */
	private readonly scopes: Set<string>[] = [];

	constructor(private readonly text: string) {}

	private fail(expected: string): never {
		throw new Error(
			`expected ${expected} at ${JSON.stringify(this.text.slice(this.at, this.at + 80))}`,
		);
	}

	private skipSpace(): void {
		while (this.text.charCodeAt(this.at) <= 32) this.at++;
	}

	/** The match of a sticky pattern here, after white space; undefined if there is none. */
	private match(pattern: RegExp): RegExpExecArray | undefined {
		this.skipSpace();
		pattern.lastIndex = this.at;
		const found = pattern.exec(this.text);
		if (!found) return undefined;
		this.at = pattern.lastIndex;
		return found;
	}

	private take(pattern: RegExp, expected: string): RegExpExecArray {
		return this.match(pattern) ?? this.fail(expected);
	}

	private skips(token: string): boolean {
		this.skipSpace();
		if (!this.text.startsWith(token, this.at)) return false;
		this.at += token.length;
		return true;
	}

	private needs(token: string): void {
		if (!this.skips(token)) this.fail(token);
	}

	private list<T>(end: string, item: () => T): T[] {
		const items: T[] = [];
		if (this.skips(end)) return items;
		do items.push(item());
		while (this.skips(","));
		this.needs(end);
		return items;
	}

	private type(): TypeOf {
		const [, inside] = this.take(/tensor<([^>]*)>/y, "a type");
		const parts = inside.split("x");
		const type = parts.pop() as string;
		if (!/^(f32|f64|bf16|i1|i8|i32|i64)$/.test(type)) this.fail("an element type");
		return { shape: parts.map(Number), type };
	}

	private types(): TypeOf[] {
		return this.skips("(") ? this.list(")", () => this.type()) : [this.type()];
	}

	private attribute(): Attribute {
		const text = this.match(/"([^"]*)"/y);
		if (text) return text[1];
		const truth = this.match(/(true|false)\b/y);
		if (truth) return truth[1] === "true";
		const array = this.match(/array<i(?:64|1)(?:: ([^>]*))?>/y);
		if (array)
			return (array[1] ?? "")
				.split(", ")
				.filter((item) => item !== "")
				.map((item) => (item === "true" || item === "false" ? item === "true" : Number(item)));
		const dense = this.match(/dense<([^>]*)> :/y);
		if (dense) return { dense: dense[1], ...this.type() };
		const convolution = this.match(/#stablehlo\.conv<(.*?->[^>]*)>/y);
		if (convolution) return convolution[1];
		if (this.match(/#stablehlo\.\w+</y)) {
			const numbers: Record<string, Attribute> = {};
			for (const [name, value] of this.list(">", () => this.entry())) numbers[name] = value;
			return numbers;
		}
		const word = this.match(/#stablehlo<\w+ (\w+)>/y);
		if (word) return word[1];
		if (this.skips("[")) return this.list("]", () => this.attribute());
		if (this.skips("{")) return this.entries("}");
		if (this.skips("(")) {
			const given = this.list(")", () => this.type());
			this.needs("->");
			return `${given.map(typeName)} -> ${this.types().map(typeName)}`;
		}
		const [, number] = this.take(/(-?\d+)(?: : i(?:32|64))?/y, "an attribute");
		return Number(number);
	}

	private entry(): readonly [string, Attribute] {
		const [, name] = this.take(/([\w.]+) =/y, "a name");
		return [name, this.attribute()];
	}

	private entries(end: string): Record<string, Attribute> {
		return Object.fromEntries(this.list(end, () => this.entry()));
	}

	private define(name: string): void {
		if (this.scopes.some((scope) => scope.has(name))) this.fail(`a new name instead of ${name}`);
		this.scopes.at(-1)?.add(name);
	}

	private use(): string {
		const [name] = this.take(/%\w+(#\d+)?/y, "a value");
		// Regions of the writer see nothing from outside.
		if (!this.scopes.at(-1)?.has(name)) this.fail(`a defined value instead of ${name}`);
		return name;
	}

	private region(): Region {
		this.needs("{");
		this.scopes.push(new Set());
		const parameters: (TypeOf & { name: string })[] = [];
		if (this.skips("^bb0")) {
			if (this.skips("("))
				parameters.push(
					...this.list(")", () => {
						const [, name] = this.take(/(%\w+):/y, "a parameter");
						this.define(name);
						return { name, ...this.type() };
					}),
				);
			this.needs(":");
		}
		const operations: ParsedOperation[] = [];
		while (!this.skips("}")) operations.push(this.operation());
		this.scopes.pop();
		return { parameters, operations };
	}

	operation(): ParsedOperation {
		const label = this.match(/(%\w+)(?::(\d+))? =/y);
		const [, name] = this.take(/"([\w.]+)"\(/y, "an operation");
		const operands = this.list(")", () => this.use());
		const attributes = this.skips("<{") ? this.entries("}") : {};
		if (Object.keys(attributes).length > 0) this.needs(">");
		const regions = this.skips("(") ? this.list(")", () => this.region()) : [];
		if (this.skips("{")) Object.assign(attributes, this.entries("}"));
		this.needs(":");
		this.needs("(");
		const operandTypes = this.list(")", () => this.type());
		this.needs("->");
		const resultTypes = this.types();
		const count = label?.[2] === undefined ? (label ? 1 : 0) : Number(label[2]);
		if (resultTypes.length !== count || operandTypes.length !== operands.length)
			this.fail(`as many types as values of ${name}`);
		const results =
			count === 1
				? [label?.[1] as string]
				: Array.from({ length: count }, (_, i) => `${label?.[1]}#${i}`);
		for (const result of results) this.define(result);
		return { name, results, operands, attributes, regions, operandTypes, resultTypes };
	}

	end(): void {
		this.take(/$/y, "the end");
	}
}

/** The function `main` of a module, and the module's attributes. */
export function parseModule(text: string): {
	readonly main: ParsedOperation;
	readonly attributes: ParsedOperation["attributes"];
} {
	const reader = new Reader(text);
	const module = reader.operation();
	reader.end();
	const [main] = module.regions[0]?.operations ?? [];
	if (
		module.name !== "builtin.module" ||
		main?.name !== "func.func" ||
		main.attributes.sym_name !== "main"
	)
		throw new Error("not a module with a function main");
	return { main, attributes: module.attributes };
}
