import { run } from "../run.js";

/** With this seed, the people have labels to train and to validate with. */
export const small = ["--patients", "30", "--epochs", "2", "--seed", "27", "--threads", "1"];

/** Runs a demo and presses Ctrl-C when the progress says so. */
export async function interruptedDemo(
	out: string,
	settings: readonly string[],
	when: string,
): Promise<{ code: number; stderr: string }> {
	let stderr = "";
	const io = {
		stdout: { write: () => undefined },
		stderr: {
			write: (text: string) => {
				stderr += text;
				if (text.includes(when)) process.emit("SIGINT");
			},
		},
		env: {},
	};
	return { code: await run(["demo", "--out", out, ...settings], io), stderr };
}
