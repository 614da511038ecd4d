const disabledPasses = "--xla_disable_hlo_passes";

/** XLA's fused norms and softmaxes can be wrong without any sign of it; docs/gpu.md has the measurements. */
const fusedNorms = "triton-softmax-rewriter";

/**
 * The `XLA_FLAGS` of a plugin, from those of the user. They stay as they are if they choose the disabled passes
 * themselves, or if they are the name of a file of flags.
 */
export function xlaFlags(given = ""): string {
	const flags = given.trim();
	if (flags.includes(disabledPasses) || (flags && !flags.startsWith("-"))) return given;
	return `${flags} ${disabledPasses}=${fusedNorms}`.trim();
}
