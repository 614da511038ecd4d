import { z } from "zod";

/** The options of a command, by name in camel case: each a schema whose metadata the help shows. */
export type Fields = Readonly<Record<string, z.ZodType>>;

/** What a command receives: optional fields that the user did not set are absent. */
export type Values<F extends Fields> = {
	readonly [K in keyof F as undefined extends z.output<F[K]> ? never : K]: z.output<F[K]>;
} & {
	readonly [K in keyof F as undefined extends z.output<F[K]> ? K : never]?: Exclude<
		z.output<F[K]>,
		undefined
	>;
};

/** A flag of the library may be false, and a list of texts a single text. */
type LibraryValue<T> = T extends true
	? boolean
	: T extends string[]
		? string extends T[number]
			? string | readonly string[]
			: Readonly<T>
		: T;

/** The options of the library that fields stand for. */
export type LibraryOptions<F extends Fields> = {
	readonly [K in keyof F]?: LibraryValue<z.output<F[K]>> | undefined;
};

/** Some values of a command as options of the library, where each may be undefined. */
export type Optional<V, K extends keyof V> = { readonly [N in K]?: V[N] | undefined };

export const texts = z.array(z.string());

/** A field with a value: the name of the value and the description in the help. */
export const option = <T extends z.ZodType>(
	placeholder: string,
	description: string,
	schema: T,
	more: { readonly alias?: string; readonly defaultText?: string } = {},
): T => schema.meta({ placeholder, description, ...more });

/** A field whose text is kept as it is, if it is given. */
export const text = (placeholder: string, description: string) =>
	option(placeholder, description, z.string().optional());
export const file = (description: string) => text("file", description);
export const folder = (description: string) => text("folder", description);
export const column = (description: string) => text("column", description);

/** The same for several texts, and for one of some. */
export const several = (placeholder: string, description: string) =>
	option(placeholder, description, texts.optional());
export const choice = <const T extends readonly string[]>(
	placeholder: string,
	description: string,
	choices: T,
) => option(placeholder, description, z.enum(choices).optional());

/** A field without a value, which is true where it is set. */
export const flag = (description: string) => z.literal(true).optional().meta({ description });

/** A field that `--no-NAME` turns off. */
export const offFlag = (off: string) => z.boolean().default(true).meta({ off });

/** Fields under a heading of their own in the help. */
export const inGroup = <F extends Fields>(group: string, fields: F): F =>
	Object.fromEntries(
		Object.entries(fields).map(([name, schema]) => [
			name,
			schema.meta({ ...schema.meta(), group }),
		]),
	) as F;

/** A field whose text a function reads; it throws InputErrors: `Expected …`, or a sentence that begins with the option. */
export const readBy = <T>(read: (text: string) => T) => z.string().transform((text) => read(text));

/** A whole number; `describe` makes a field of it. */
export const whole = (least: number, most: number) => z.int().min(least).max(most);
