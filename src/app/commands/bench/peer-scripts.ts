export type Settings = Readonly<Record<string, string | number>>;

export interface PeerScript {
	/** File name in `bench/peers/`. */
	readonly script: string;
	/** The script's arguments for a model's settings. */
	settings(config: Settings): Settings;
	/** Why the peer is not comparable, or undefined if it is. */
	incomparable?(config: Settings, length: number): string | undefined;
}

const only =
	(...names: readonly string[]) =>
	(config: Settings): Settings =>
		Object.fromEntries(names.map((name) => [name, config[name] as string | number]));

/** The same model in PyTorch, by model id. */
export const peerScripts: Readonly<Record<string, PeerScript>> = {
	trajgpt: {
		script: "trajgpt_step.py",
		settings: (config) => ({
			...only(
				...["layers", "heads", "dim", "key", "value", "ff", "vocab"],
				...["temperature", "norm", "decay"],
			)(config),
			shortest: Number(config.shortestPeriodDays),
			longest: Number(config.longestPeriodDays),
		}),
		incomparable: ({ gap, copies }) =>
			gap === "embedded" || copies !== 0
				? "the peer is the paper's model, without gaps as input and without counting heads; " +
					"try --preset paper"
				: undefined,
	},
	patchtst: {
		script: "patchtst_step.py",
		settings: only("layers", "heads", "dim", "ff", "vocab", "window", "patch", "ahead"),
		incomparable: ({ window }, length) =>
			length < Number(window) - 1
				? `the peer has no padding, so rows must have ${Number(window) - 1} events`
				: undefined,
	},
	"gru-d": { script: "gru_d_step.py", settings: only("dim", "vocab", "decayDays") },
	gpt2: {
		script: "gpt2_step.py",
		settings: only("layers", "heads", "dim", "ff", "vocab", "positions"),
	},
};

/** TrajGPT in an engine that queues steps. */
export interface QueuedPeer {
	/** File name in `bench/peers/`. */
	readonly script: string;
	/** The Python module it needs. */
	readonly module: string;
	readonly settings: Settings;
}

const torch = (mode: string): QueuedPeer => ({
	...{ script: "trajgpt_gpu_torch.py", module: "torch", settings: { mode } },
});

/** The peers of accelerators, by name. */
export const queuedPeers = {
	jax: { script: "trajgpt_gpu_jax.py", module: "jax", settings: {} },
	"torch-eager": torch("eager"),
	"torch-compile": torch("compile"),
	"torch-compile-max-autotune": torch("compile-max-autotune"),
	"torch-compile-reduce-overhead": torch("compile-reduce-overhead"),
	"torch-compile-whole-graph": torch("compile-whole-graph"),
} as const satisfies Readonly<Record<string, QueuedPeer>>;

export type QueuedPeerName = keyof typeof queuedPeers;
