import { getEnvironmentData, isMainThread, setEnvironmentData } from "node:worker_threads";

// ONNX Runtime reads the variable when its library loads, and only "1" switches telemetry off:
// "true" leaves it on. ORT_DISABLE_TELEMETRY=0 is how a user opts in.
const setting = `process.env.ORT_DISABLE_TELEMETRY === "0" || (process.env.ORT_DISABLE_TELEMETRY = "1")`;

const waitMs = 5000;

/** A worker's `process.env` is a copy that native code does not see; only the main thread's counts. */
async function setInMainThread(): Promise<void> {
	let timer: NodeJS.Timeout | undefined;
	try {
		const { Session } = await import("node:inspector/promises");
		const session = new Session();
		session.connectToMainThread();
		const late = new Promise<never>((_, reject) => {
			timer = setTimeout(() => reject(new Error(`no answer for ${waitMs} ms`)), waitMs);
		});
		await Promise.race([session.post("Runtime.evaluate", { expression: setting }), late]);
		session.disconnect();
	} catch (error) {
		throw new Error(
			`ONNX Runtime was not loaded in this worker thread: its telemetry could not be switched off in the main thread (${(error as Error).message}); import trajgpt in the main thread first, or leave the main thread unblocked while the worker loads`,
			{ cause: error },
		);
	} finally {
		clearTimeout(timer);
	}
}

/** Marks workers that were started after the main thread set the variable. */
const mark = "trajgpt: ORT_DISABLE_TELEMETRY is set";

if (process.env.ORT_DISABLE_TELEMETRY !== "0") process.env.ORT_DISABLE_TELEMETRY = "1";
if (isMainThread) setEnvironmentData(mark, true);
else if (!getEnvironmentData(mark)) await setInMainThread();
