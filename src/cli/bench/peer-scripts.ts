type Settings = Readonly<Record<string, string | number>>;

export interface PeerScript {
	/** In `bench/peers/`. */
	readonly script: string;
	/** What it is told of a model's settings. */
	settings(config: Settings): Settings;
	/** Why it cannot be compared with, if so. */
	unlike?(config: Settings, length: number): string | undefined;
}

const only =
	(...names: readonly string[]) =>
	(config: Settings): Settings =>
		Object.fromEntries(names.map((name) => [name, config[name] as string | number]));

/** The same model in PyTorch, by the name of ours. */
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
		unlike: ({ gap, copies }) =>
			gap === "embedded" || copies !== 0
				? "it is the paper's model, which is told no gaps and has no heads that count; " +
					"try --preset paper"
				: undefined,
	},
	patchtst: {
		script: "patchtst_step.py",
		settings: only("layers", "heads", "dim", "ff", "vocab", "window", "patch", "ahead"),
		unlike: ({ window }, length) =>
			length < Number(window) - 1
				? `it knows no padding, so rows must have ${Number(window) - 1} events`
				: undefined,
	},
	"gru-d": { script: "gru_d_step.py", settings: only("dim", "vocab", "decayDays") },
	gpt2: {
		script: "gpt2_step.py",
		settings: only("layers", "heads", "dim", "ff", "vocab", "positions"),
	},
};
