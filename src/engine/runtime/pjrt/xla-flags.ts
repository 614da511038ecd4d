/** XLA's pass that fuses norms and softmaxes. Programs compiled with it can be wrong: see docs/gpu.md. */
const unsafePass = "triton-softmax-rewriter";

const added = `--xla_disable_hlo_passes=${unsafePass}`;

/** The user leaves the pass on with an empty list. With the second flag, XLA refuses a list of disabled passes. */
const choosesPasses = /--xla_disable_hlo_passes=(\s|$)|--xla_enable_hlo_passes_only/;

/**
 * `XLA_FLAGS` with the unsafe pass switched off, unless the user chooses the passes or names a file of flags. The
 * flag comes first, because XLA stops reading at the first mistake.
 */
export function withoutUnsafePass(flags = ""): string {
	const own = flags.trim();
	const isFile = own !== "" && !own.startsWith("-");
	if (isFile || choosesPasses.test(own) || own.includes(unsafePass)) return flags;
	return `${added} ${own}`.trim();
}

/** `XLA_FLAGS` as the user set them, for other programs. */
export const userFlags = (flags = ""): string => flags.replace(added, "").trim();

/** Whether `XLA_FLAGS` switch the unsafe pass off; those in a file are not read. */
export const isUnsafePassOff = (flags = ""): boolean => flags.includes(unsafePass);
