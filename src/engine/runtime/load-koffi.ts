export type Koffi = typeof import("koffi").default;

/** Functions run on a stack of koffi's own; its default on other threads is too small for a compiler. */
const stackBytes = 16 * 2 ** 20;

/** Loads koffi, which calls C functions. Its settings cannot change once it has loaded a library. */
export async function loadKoffi(): Promise<Koffi> {
	const { default: koffi } = await import("koffi");
	if (koffi.config().async_stack_size !== stackBytes)
		koffi.config({ sync_stack_size: stackBytes, async_stack_size: stackBytes });
	return koffi;
}
