import { InputError } from "../../base/errors.js";
import type { Method } from "./answering.js";
import { CallFailed, failureOf } from "./call-failed.js";
import type { ModelParts } from "./engine.js";

/** What a thread is begun with. */
export interface ThreadData {
	readonly parts: ModelParts;
	/** Of ONNX Runtime. */
	readonly threads: number;
}

export interface Call {
	readonly id: number;
	readonly method: Method;
	readonly args: readonly unknown[];
}

/** Errors do not keep their class between threads, so what they hold is sent. */
export type Reply = { readonly id: number } & (
	| { readonly value: unknown }
	| { readonly refusal: string }
	| { readonly failure: Pick<CallFailed, "operation" | "error" | "where"> }
);

export function errorReply({ id, method }: Call, thrown: unknown): Reply {
	if (thrown instanceof InputError) return { id, refusal: thrown.message };
	const { operation, error, where } = failureOf(method, thrown);
	return { id, failure: { operation, error, where } };
}

export function errorIn(reply: Exclude<Reply, { readonly value: unknown }>): Error {
	if ("refusal" in reply) return new InputError(reply.refusal);
	const { operation, error, where } = reply.failure;
	return new CallFailed(operation, error, where);
}
