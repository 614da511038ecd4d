import { InputError } from "../base/errors.js";
import type { Calls, Opened } from "./calls.js";
import type { Source } from "./source.js";

/** What is sent to the worker. */
export type Request =
	| { readonly id: number; readonly open: OpenRequest }
	| { readonly id: number; readonly call: keyof Calls; readonly values: readonly unknown[] };

export interface OpenRequest {
	readonly source: Source;
	readonly device: "wasm" | "webgpu" | undefined;
	readonly threads: number | undefined;
	readonly files: string;
}

/** What comes back, under the request's number. */
export type Reply =
	| { readonly id: number; readonly value: Opened | unknown }
	| { readonly id: number; readonly failed: { readonly input: boolean; readonly message: string } };

export const failureOf = (error: unknown) => ({
	input: error instanceof InputError,
	message: error instanceof Error ? error.message : String(error),
});

export const errorOf = ({ input, message }: ReturnType<typeof failureOf>): Error =>
	input ? new InputError(message) : new Error(message);
