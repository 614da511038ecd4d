#!/usr/bin/env node
import { run } from "./run.js";

// `trajgpt … | head` closes the pipe early: exit normally. Errors on standard error are ignored.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
	if (error.code === "EPIPE") process.exit(0);
	throw error;
});
process.stderr.on("error", () => {});

process.exitCode = await run(process.argv.slice(2), process);
